"""Fits to imputed data sets as one: Rubin's rules and pooled tests."""
