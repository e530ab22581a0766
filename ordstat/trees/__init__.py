"""Classification trees for ordered levels, and ensembles of them."""
