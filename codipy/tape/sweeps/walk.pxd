# SPDX-License-Identifier: Apache-2.0
# The walk that all sweeps share: region after region, the kernel on raw pointers, the cursors checked, Ctrl-C heard.
from libc.stdint cimport int32_t

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, Span
from codipy.data.stream cimport Stream
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.recorder cimport Recorder


cdef enum Mode:              # which sweep it is
    REVERSE                  # back, with adjoints
    TANGENTS                 # forward, with tangents
    VALUES                   # forward, values again from those of the inputs

# What a sweep carries, as its kernel sees it.
cdef struct Sweep:
    Mode mode
    double* origin           # adjoints or tangents, where identifier 0 would be; of VALUES those of arrays, or NULL
    Py_ssize_t width         # directions; 1 for VALUES
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

# A joint place in the streams together with what was handed out and recorded beside them until then.
cdef struct Bounds:
    int32_t start            # largest identifier at the start of the swept range (linear strategies)
    int32_t end              # and at its end
    Py_ssize_t first         # number of the first record in the range
    Py_ssize_t last          # one past its last record

cdef int walk_regions(Regions regions, Kernel kernel, Sweep* sweep) except -1
# Runs the kernel over the streams from start (None: the beginning) to end (None: the end of the recording), and the
# records between them in their turn. `adjoints` is None for VALUES.
cdef int walk(Recorder* r, Stream root, Position start, Position end, Bounds bounds, AdjointVector adjoints,
              Kernel kernel, Sweep* sweep) except -1
