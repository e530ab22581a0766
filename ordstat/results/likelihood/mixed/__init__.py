"""What is asked of fits with random effects."""
