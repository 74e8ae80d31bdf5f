"""Workspace: a folder of plain files that people read and edit, kept in step with the memory."""
