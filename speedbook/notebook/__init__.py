"""Notebooks as files: the rules for a notebook of the book, and its parameters."""
