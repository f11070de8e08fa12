"""What only this paper's pages need: its environments, data, bounds, plots, exact arithmetic."""
