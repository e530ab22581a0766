"""Pictures of likelihood fits."""
