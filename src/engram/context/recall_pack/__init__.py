"""The recall pack: a deterministic document for the start of a session."""
