"""One file a method; `REGISTERED` lists them."""
