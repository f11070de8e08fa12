"""Code for this paper's pages: its environments, data, bounds, plots and exact arithmetic."""
