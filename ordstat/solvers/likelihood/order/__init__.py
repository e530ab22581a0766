"""Likelihoods maximised with thresholds in order all over the range of the nominal columns."""
