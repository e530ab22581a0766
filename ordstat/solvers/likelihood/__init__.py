"""Maximum likelihood of cumulative link models: rows, Newton's method, starts, profiles, sandwiches."""
