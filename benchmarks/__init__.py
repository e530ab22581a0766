"""Speed against peers, as ratios within one run. `make bench` runs everything."""
