"""Random cumulative link models, fitted here and by R's clm, and everything both say of
them compared.
"""

from benchmarks.against_r.command import main

__all__ = ["main"]
