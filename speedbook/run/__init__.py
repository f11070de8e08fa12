"""Running notebooks, and the records of a run."""
