"""What time and repetition do to a memory. Pure: a memory and the facts come in, a verdict comes out."""
