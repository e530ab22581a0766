"""Pictures of fits."""
