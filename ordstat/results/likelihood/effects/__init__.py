"""Average effects and estimated marginal means."""
