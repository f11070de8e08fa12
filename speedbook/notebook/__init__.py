"""Notebooks as files: what a notebook of the book must be, and its parameters."""
