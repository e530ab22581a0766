"""The shared idea in plain arrays: rows, rules, links, kernels, costs, fits."""
