"""Random effects: the likelihood with them integrated out."""
