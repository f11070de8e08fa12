"""Running notebooks, and what is known of a run."""
