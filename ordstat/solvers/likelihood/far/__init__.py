"""Likelihoods that rise without end: how far out they are followed."""
