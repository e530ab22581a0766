"""Models made to predict: boosted trees, forests, kernel models, blends, calibration."""
