"""Trees as values, and their aggregation and pruning."""
