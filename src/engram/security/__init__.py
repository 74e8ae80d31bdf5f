"""Rules about what is secret. Pure: text comes in, a verdict comes out."""
