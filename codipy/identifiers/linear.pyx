# SPDX-License-Identifier: Apache-2.0
"""Identifiers that grow with the recording: the n-th one handed out is the n-th number."""

cimport cython

import operator

from codipy.errors import IdentifierOverflow


@cython.final
cdef class LinearIdentifiers:
    """LinearIdentifiers(first=1)
    --

    Identifiers that grow with the recording and are never handed back one by one.

    Identifier 0 is passive and never handed out. An identifier does not know whether a reset has dropped it:
    the tape's epoch, stored beside it in every variable, does.

    Parameters
    ----------
    first : int, optional
        The first identifier handed out, 1 or more.
    """

    def __cinit__(self, first=1):
        cdef Py_ssize_t value = operator.index(first)
        if not 1 <= value <= LARGEST_IDENTIFIER:
            raise ValueError(f"first must be 1 or more and fit into 32 bits, not {value}: 0 is the passive identifier")
        self.first = <int32_t>value
        self.highest = self.first - 1
        self.state.largest = self.first - 1

    cdef int32_t overflow(self, Py_ssize_t n) except -1:
        raise IdentifierOverflow(
            f"{n} more identifiers than the {self.state.largest} in use do not fit into 32 bits: record less at once "
            f"(tape.reset, checkpoints) or take a reuse strategy, such as strategy='jacobian-reuse'"
        )

    cpdef int32_t assign_block(self, Py_ssize_t n) except -1:
        """Hand out `n` contiguous identifiers and return the first; a block of none is the passive 0."""
        if n < 0:
            raise ValueError(f"n must be 0 or more, not {n}")
        if n > LARGEST_IDENTIFIER - self.state.largest:
            return self.overflow(n)
        if n == 0:
            return 0
        self.state.largest += <int32_t>n
        return self.state.largest - <int32_t>n + 1

    cpdef int reset(self) except -1:
        """Make every identifier free again."""
        return self.reset_to(self.first - 1)

    cpdef int reset_hard(self) except -1:
        """As `reset`: there is no memory to free."""
        return self.reset()

    cpdef int reset_to(self, Py_ssize_t largest) except -1:
        """Make the identifiers above `largest` free again."""
        if not self.first - 1 <= largest <= self.state.largest:
            raise ValueError(f"largest must be {self.first - 1} to {self.state.largest}, not {largest}")
        self.highest = max(self.highest, self.state.largest)
        self.state.largest = <int32_t>largest
        return 0

    @property
    def largest(self):
        """The largest identifier in use; `first` - 1 when there is none."""
        return self.state.largest

    @property
    def live(self):
        """Identifiers in use."""
        return self.state.largest - self.first + 1

    @property
    def peak(self):
        """The most identifiers that were ever in use at once."""
        return max(self.highest, self.state.largest) - self.first + 1

    @property
    def stored_free(self):
        """Identifiers that wait for reuse: never any."""
        return 0

    @property
    def bytes_used(self):
        """Bytes of bookkeeping: none."""
        return 0

    @property
    def bytes_allocated(self):
        """Bytes of bookkeeping: none."""
        return 0

    def __repr__(self):
        return f"LinearIdentifiers(largest={self.state.largest}, live={self.live}, peak={self.peak})"

    def py_assign(self):
        """Hand out one identifier, for tests; C calls `assign`."""
        return self.assign()

    def _set_largest(self, int32_t largest):
        # For tests: 2**31 identifiers without handing them out.
        self.state.largest = largest

    def _check(self):
        """Verify the invariants; raise AssertionError with the state."""
        if not (self.first >= 1 and self.state.largest >= self.first - 1 and self.highest >= self.first - 1):
            raise AssertionError(f"first {self.first}, largest {self.state.largest}, highest {self.highest}")
