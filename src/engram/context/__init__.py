"""Context: what a prompt holds, within a model's budget. Memories come in from outside; a prompt goes out."""
