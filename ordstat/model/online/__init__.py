"""Weights and examples of online rankers."""
