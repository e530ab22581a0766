"""Reductions to binary classification: encodings, voting, threshold losses."""
