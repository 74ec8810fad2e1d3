# SPDX-License-Identifier: Apache-2.0
# The walk that all sweeps share: region after region, the kernel on raw pointers, the cursors checked, Ctrl-C heard.
from libc.stdint cimport int32_t

from codipy.data.region cimport Regions, Span


# What a sweep carries, as its kernel sees it.
cdef struct Sweep:
    double* origin           # adjoints or tangents, where identifier 0 would be; NULL where none are carried
    Py_ssize_t width         # directions
    double* primals          # values by identifier, for the strategies that store them
    int32_t lhs              # linear: the largest identifier at the end of the region where the walk enters
    bint reuse               # statements name their results
    bint keep                # adjoints of intermediate results are not consumed
    bint uninterrupted       # Ctrl-C waits until the sweep has ended

# Runs over one region and leaves each stream's cursor, the root's first, where it stopped. A strategy has one kernel
# for each sweep, inlined into a variant for every combination of literals that pays.
ctypedef void (*Kernel)(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil

cdef enum:
    STATEMENTS_PER_SIGNAL_CHECK = 1 << 21

cdef int walk(Regions regions, Kernel kernel, Sweep* sweep, bint reverse) except -1
