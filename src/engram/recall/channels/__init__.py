"""Channels: each finds candidates in its own way, with scope and filters applied inside."""
