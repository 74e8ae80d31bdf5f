"""What text says and how it is searched: pure rules, no I/O but the package's own word lists, no clock."""
