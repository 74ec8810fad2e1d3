# SPDX-License-Identifier: Apache-2.0
# The Jacobian strategies: per argument its Jacobian (8 B) and identifier (4 B), per statement an argument count (1 B).
from codipy.tape.strategies.strategy cimport Strategy
cimport cython


# Streams: arguments (f8 Jacobian, i4 identifier) nesting statements (u1 argument count[, i4 lhs with reuse]).
# A linear statement's lhs is not stored: each statement makes one identifier, so a sweep counts.
@cython.final
cdef class Jacobian(Strategy):
    pass
