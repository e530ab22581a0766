# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Shapley values of one tree by its leaves; twin in `tests/twins_shapley.py`."""

from libc.stdint cimport uint8_t
from libc.string cimport memset


def add_shapley(const uint8_t[:, ::1] left, const int[::1] conditions, const int[::1] node, const uint8_t[::1] side,
                const int[::1] place, const int[::1] players, const int[::1] player, const double[::1] share,
                const double[::1] value, const double[::1] points, const double[::1] weights,
                double[:, ::1] table, uint8_t[::1] known, double[:, ::1] phi):
    """Add the Shapley values of a tree to those of N rows.

    The way to leaf l asks a row to go to a side at some nodes. With z_j the share of the tree's rows that player j's
    conditions let through, and o_j whether the row meets them, player i gets value_l (o_i - z_i) times the integral
    over t from 0 to 1 of prod over j != i of (1 - t) z_j + t o_j.

    Parameters
    ----------
    left : (M, N) whether a row goes left at a node
    conditions : (L+1,) where those of every leaf begin
    node, side, place : (C,) of a condition: node, 1 for left, and position of its player among those of the leaf
    players : (L+1,) where those of every leaf begin
    player, share : (P,) column of `phi`, and z
    value : (L,)
    points, weights : (Q,) of a quadrature on [0, 1], exact for the polynomials above
    table, known : (2^m, m), (2^m,) to work in, m the most players of a leaf
    phi : (N, G) changed
    """
    cdef Py_ssize_t L = value.shape[0], N = left.shape[1], Q = points.shape[0]
    cdef Py_ssize_t leaf, n, c, i, j, q, first, m, met
    cdef double product, total, t
    with nogil:
        for leaf in range(L):
            first = players[leaf]
            m = players[leaf + 1] - first
            memset(&known[0], 0, <size_t> 1 << m)
            for n in range(N):
                # Rows that meet the conditions of the same players get the same from a leaf.
                met = (<Py_ssize_t> 1 << m) - 1
                for c in range(conditions[leaf], conditions[leaf + 1]):
                    if left[node[c], n] != side[c]:
                        met &= ~(<Py_ssize_t> 1 << place[c])
                if not known[met]:
                    known[met] = 1
                    for i in range(m):
                        total = 0.0
                        for q in range(Q):
                            t = points[q]
                            product = weights[q]
                            for j in range(m):
                                if j != i:
                                    product *= (1.0 - t) * share[first + j] + (t if met >> j & 1 else 0.0)
                            total += product
                        total *= (1.0 if met >> i & 1 else 0.0) - share[first + i]
                        table[met, i] = value[leaf] * total
                for i in range(m):
                    phi[n, player[first + i]] += table[met, i]
