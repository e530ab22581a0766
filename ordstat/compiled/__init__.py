"""Loops that NumPy cannot express, compiled ahead of time."""
