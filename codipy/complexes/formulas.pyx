# SPDX-License-Identifier: Apache-2.0
"""Which formula has the bits of a complex operator: found once for any two classes of numbers, by numbers.

Python and NumPy have formulas of their own for a product and a quotient. Where one gives the bits of the operator, C
computes it, as long as every step is a normal number, so that there is nothing to warn of. Zeros are asked for apart,
since a real operand may be a complex one or not, which is another sign of a zero. Else the operator is run.
"""
import operator
import random

import numpy as np

from cpython.object cimport PyObject

from codipy.complexes.number cimport COMPLEX, OTHER, SORTS, take

cdef extern from "<math.h>":
    bint signbit(double x) noexcept nogil

cdef object complex128 = np.complex128, float64 = np.float64
cdef tuple OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv)
cdef unsigned char KNOWN[4][SORTS][SORTS]


cdef int known_of(int code, const Number* x, const Number* y) noexcept:
    return KNOWN[code][x.sort][y.sort] if code != POWER else 0


cdef int look_up(int code, int left, int right, list samples, list zeros) except -1:
    """What the operator does with two classes."""
    cdef int formula, known
    function = OPERATORS[code]
    made = type(function(samples[0][left], samples[0][right]))
    if made is not complex and made is not complex128:
        return 0
    for formula in range(SAME_FORMULA, BY_RECIPROCAL + (code == DIVIDE)):
        known = formula | (OF_NUMPY if made is complex128 else 0)
        if agrees(code, known, left, right, samples, False):
            return known | ZEROS if agrees(code, known | ZEROS, left, right, zeros, True) else known
    return 0


cdef bint agrees(int code, int known, int left, int right, list samples, bint unsure) except -1:
    """Whether a formula gives the operator's bits; `unsure`: where it says that it does."""
    cdef Number x, y
    cdef double w[2]
    function = OPERATORS[code]
    for one in samples:
        for other in samples:
            if one is other and not unsure:
                continue                         # a difference of 0
            take(<PyObject*>one[left], &x)
            take(<PyObject*>other[right], &y)
            if not compute(code, known, &x, &y, w):
                if unsure:
                    continue
                return False
            value = function(one[left], other[right])
            if w[0] != value.real or w[1] != value.imag:
                return False
            if signbit(w[0]) != signbit(value.real) or signbit(w[1]) != signbit(value.imag):
                return False
    return True


cdef int look_all_up() except -1:
    rng = random.Random(1)
    samples, zeros = [], []
    for x in (0.0, -0.0, 1.5):
        for y in (0.0, -0.0, -0.5):
            z = complex(x, y)
            zeros.append((int(x), x, float64(x), z, complex128(z)))
    for _ in range(6):
        x, z = rng.uniform(0.5, 3.0), complex(rng.uniform(-3.0, -0.5), rng.uniform(0.5, 3.0))
        samples.append((rng.randrange(3, 99), x, float64(x), z, complex128(z)))
    for code in range(4):
        for left in range(OTHER):
            for right in range(OTHER):
                if left >= COMPLEX or right >= COMPLEX:
                    KNOWN[code][left][right] = <unsigned char>look_up(code, left, right, samples, zeros)
    return 0


look_all_up()
