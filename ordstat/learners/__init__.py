"""Learners that methods combine: binary (support vector machines, C4.5, scikit-learn's) and weak (stumps, trees)."""
