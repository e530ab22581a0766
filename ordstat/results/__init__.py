"""What a fit tells: results classes, reports and their renderer."""
