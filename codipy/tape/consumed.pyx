# SPDX-License-Identifier: Apache-2.0
"""Which adjoints a vector holds no longer, since a sweep consumed them."""
import numpy as np

from libc.stdint cimport INT64_MAX as FOREVER, int32_t, int64_t
cimport cython

from codipy.errors import TapeError

cdef int64_t GENERATION = 0xffffffff     # of an epoch; those of stale variables are of another serial: nobody asks for them
cdef int64_t OF_ELEMENT = 0xffffffff     # as a mark: no generation is so large


# Rejected: to leave a mark in the slot itself, -0.0 or a NaN, which costs the sweep nothing. A slot that serves again
# holds the adjoint of one variable while another asks for it; only the epochs tell them apart.
@cython.final
cdef class Consumed:
    """Consumed()
    --

    What sweeps have left of one adjoint vector; 0 is the epoch before the first.
    """
    def __cinit__(self):
        self.reached = FOREVER

    cdef void forget(self) noexcept:
        self.whole, self.ranges, self.reached, self.seeds, self.forward, self.torn = 0, None, FOREVER, None, False, False

    cdef int backwards(self, int64_t after, int64_t until, int64_t now, bint shared, bint keep) except -1:
        self.forward = False
        if keep:                 # of shared identifiers there is no such sweep
            self.reached = min(self.reached, now)
            return 0
        if after == 0 and until == now:
            self.whole, self.ranges, self.reached, self.seeds = now, None, FOREVER, None
            return 0
        self.lose(after, until)
        self.drop_seeds(after, until, shared)
        if after == 0 and self.whole == now and self.seeds is None:
            self.reached = FOREVER
        else:                    # adjoints of variables that are gone stay, for whoever gets their identifiers
            self.reached = min(self.reached, after if shared else now)
        return 0

    cdef int begin_forward(self, int64_t after) except -1:
        self.forward = True
        self.drop_seeds(after, FOREVER, True)
        return self.lose(after, FOREVER)     # until the end: an exception on the way leaves tangents of two sweeps

    cdef int end_forward(self, int64_t after, int64_t until, int64_t now, bint shared) except -1:
        self.regain(after, FOREVER)
        if until < now:
            self.lose(until, now)
        if shared and self.reached < after:
            self.lose(self.reached, after)
        self.reached = until if shared else now
        return 0

    cdef int seed(self, identifiers, int64_t epoch, bint element, int64_t now, int32_t largest) except -1:
        if self.is_whole():
            return 0
        if self.seeds is None or len(self.seeds) <= largest:
            seeds = np.zeros(largest + 1, np.uint32)
            if self.seeds is not None:
                seeds[:len(self.seeds)] = self.seeds
            self.seeds = seeds
        self.seeds[identifiers] = mark_of(epoch, element)
        self.reached = min(self.reached, now)
        return 0

    cdef int drop_seeds(self, int64_t after, int64_t until, bint shared) except -1:
        cdef object of_elements
        if self.seeds is not None:
            of_elements = self.seeds == OF_ELEMENT
            self.seeds[(self.seeds > (after & GENERATION)) & (
                shared | of_elements | (self.seeds <= (until & GENERATION)))] = 0
        return 0

    cdef int demand(self, variable, identifiers, int64_t epoch, bint element, bint shared) except -1:
        if not self.misses(epoch, element, shared) or self.is_seeded(identifiers, mark_of(epoch, element)):
            return 0
        variable = variable if type(variable) is str else repr(variable)
        if self.forward:
            raise TapeError(f"{variable} has no gradient: the last forward sweep did not come to its statement; go on with "
                            "tape.evaluate_forward(start=position), or call clear_adjoints() and sweep over the whole tape")
        raise TapeError(f"{variable} has no gradient any more: a reverse sweep consumed it when it passed its statement. "
                        "Register it with register_output(), take p = tape.position() right behind it and sweep with "
                        "evaluate(end=p) to read it, then go on with evaluate(start=p); or seed it again, or call "
                        "clear_adjoints()")

    cdef int demand_swept(self) except -1:
        if self.torn:
            raise TapeError("the adjoints are swept in part: a reverse sweep over them ended with an exception, or with the "
                            "thread of another process, or is still under way; call clear_adjoints(), or clear() of external "
                            "ones, and seed and sweep again")
        return 0

    cdef bint misses(self, int64_t epoch, bint element, bint shared) except? True:
        if shared and epoch > self.reached:
            return True
        if self.whole:
            return element or epoch <= self.whole
        if self.ranges is None:
            return False
        if element:
            return epoch > self.ranges[0][0]
        for after, until in self.ranges:
            if after < epoch <= until:
                return True
        return False

    cdef int lose(self, int64_t after, int64_t until) except -1:
        cdef list apart = []
        cdef int64_t a, u
        if after >= until:
            return 0
        for a, u in self.ranges or [(0, self.whole)]:
            if u < after or a > until:
                apart.append((a, u))
            else:
                after, until = min(a, after), max(u, until)
        return self.hold(sorted([*apart, (after, until)]))

    cdef int regain(self, int64_t after, int64_t until) except -1:
        cdef list rest = []
        cdef int64_t a, u
        for a, u in self.ranges or [(0, self.whole)]:
            rest += [(a, min(u, after)), (max(a, until), u)]
        return self.hold(rest)

    cdef int hold(self, list ranges) except -1:
        ranges = [(a, u) for a, u in ranges if a < u]
        self.whole, self.ranges = 0, ranges or None
        if len(ranges) == 1 and ranges[0][0] == 0:
            self.whole, self.ranges = ranges[0][1], None
        return 0

    cdef bint is_seeded(self, identifiers, object mark) except? True:
        """Whether all of these were, and for the same variable."""
        if self.seeds is None or np.max(identifiers) >= len(self.seeds):
            return False
        return bool(np.all(self.seeds[identifiers] == mark))


cdef object mark_of(int64_t epoch, bint element):
    return OF_ELEMENT if element else epoch & GENERATION
