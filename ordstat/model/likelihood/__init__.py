"""Links, intervals, threshold structures and the fitted cumulative link model as a rule."""
