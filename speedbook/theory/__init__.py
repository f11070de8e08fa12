"""The bounds that the paper states, as printed and as corrected."""
