"""Rules about how things hang together: which names mean one thing, and what follows from what."""
