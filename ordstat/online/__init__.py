"""Perceptrons that learn one example after another."""
