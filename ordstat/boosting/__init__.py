"""Boosting of weak hypotheses: ORBoost, RankBoost, AdaBoost.OR."""
