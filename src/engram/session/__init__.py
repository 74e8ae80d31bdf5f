"""Sessions: turns come in; what is on the mind, where the talk is going and what to recall next come out."""
