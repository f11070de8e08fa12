"""The environments of the paper: printed ones, and those made from data."""
