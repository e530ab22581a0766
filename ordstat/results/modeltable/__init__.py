"""Several fits as one table, side by side."""
