# SPDX-License-Identifier: Apache-2.0
# How a complex number goes on the tape: a statement for each part, of a value and partial derivatives that are known.
from cpython.object cimport PyObject

from codipy.active.scalar.partials cimport of_partials
from codipy.active.scalar.real cimport Real
from codipy.complexes.number cimport BaseComplex, Number
from codipy.tape.recorder cimport Recorder

cdef extern from "<math.h>":
    bint signbit(double x) noexcept nogil

# The statement of a part: operands, partial derivatives, and a bit for each of those that nobody else needs.
cdef struct Statement:
    PyObject* operands[4]
    double partials[4]
    unsigned int merged
    int n

# The number of value w whose derivative by x is p + iq, and by y s + it. None where one is not finite.
cdef BaseComplex along(Recorder* r, PyObject* left, const Number* x, double p, double q, PyObject* right,
                       const Number* y, double s, double t, const double* w, int form)


cdef inline void depend(Recorder* r, Statement* s, PyObject* x, double partial, bint merged) noexcept:
    if x != NULL and not (partial == 0.0 and r.skip_zero):
        s.operands[s.n], s.partials[s.n] = x, partial
        s.merged |= <unsigned int>merged << s.n
        s.n += 1


cdef inline bint has_bits(Real x, double value) noexcept:
    return x.primal == value and signbit(x.primal) == signbit(value) or x.primal != x.primal and value != value


cdef inline Real stated(Recorder* r, Statement* s, double value, int form):
    return of_partials(r, s.n, s.operands, s.partials, value, form, s.merged)
