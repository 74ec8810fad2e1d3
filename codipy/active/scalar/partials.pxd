# SPDX-License-Identifier: Apache-2.0
# A Real of a value and of partial derivatives that the caller has, as those of a complex number's parts.
from cpython.object cimport PyObject

from codipy.active.scalar.real cimport Real
from codipy.tape.recorder cimport Recorder

# Whether a recording takes such Reals: its statements are Jacobians, or their results carry tangents. Others compute
# values again, for which a number that was a partial at one point is none at another.
cdef inline bint takes_partials(Recorder* r) noexcept:
    return not r.keeps_values

# operands[k] is a Real that has an epoch, or NULL for a passive one; there are at most MAX_LEAVES. Pending ones of which
# bit k of `merged` says that nobody else needs them become part of the result's statement; the others are pushed first.
cdef Real of_partials(Recorder* r, int n, PyObject** operands, const double* partials, double value, int kind,
                      unsigned int merged)
