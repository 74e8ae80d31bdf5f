"""Time in text: the words, the calendar, and the rules of two languages behind `engram.text.dates`."""
