"""Results of likelihood models, a topic a file."""
