"""Cumulative models of a function from the space of a kernel: features, the penalised likelihood, its penalty."""
