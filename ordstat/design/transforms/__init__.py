"""Functions that a formula may call."""
