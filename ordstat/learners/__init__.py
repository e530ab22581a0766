"""Weighted binary learners behind one protocol: support vector machines and scikit-learn's classifiers."""
