"""The Sphinx extension of the book."""
