"""Machines that learn from pairs of rows, and the rank boundaries set afterwards."""
