"""Selection of terms step by step."""
