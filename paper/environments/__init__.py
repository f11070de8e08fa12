"""The environments of the paper: the printed ones, and those made from data."""
