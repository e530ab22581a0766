"""Small data sets that ship with ordstat; read them with `ordstat.datasets.load`."""
