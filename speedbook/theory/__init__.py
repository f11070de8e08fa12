"""What the paper states and what corrects it, as plain functions of numbers and arrays."""
