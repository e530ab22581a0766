"""Classifiers of other packages inside."""
