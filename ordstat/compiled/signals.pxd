"""Ctrl-C within a compiled loop, and the lengths of the arrays at its entry."""

from cpython.exc cimport PyErr_CheckSignals

cdef inline int let_interrupt(double* done, double work) except -1 nogil:
    """Raise KeyboardInterrupt if Ctrl-C was pressed, after every 5e7 simple operations, which take some 0.1 s.

    `done` counts the operations since the last look, and grows by `work`. Other threads than the main one go on.
    """
    done[0] += work
    if done[0] > 5e7:
        done[0] = 0.0
        with gil:
            PyErr_CheckSignals()
    return 0


cdef inline int require_lengths(bint fit, str loop) except -1:
    """ValueError unless the arrays of a loop fit each other: it would read beyond their ends."""
    if not fit:
        raise ValueError(f"{loop}: the arrays must have the lengths that its docstring states.")
    return 0
