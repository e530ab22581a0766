"""Ordinal ranking as weighted binary classification, and back."""
