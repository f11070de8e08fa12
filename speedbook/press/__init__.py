"""From executed notebooks to pages."""
