"""The environments of the paper: bandits that it describes, and bandits fitted to data."""
