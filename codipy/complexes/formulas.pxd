# SPDX-License-Identifier: Apache-2.0
# Values of complex operators by formulas, where these have the operator's bits without a doubt.
from libc.math cimport fabs, isfinite, isnormal

from codipy.complexes.number cimport Number

cdef enum Operator:
    ADD, SUBTRACT, MULTIPLY, DIVIDE, POWER

cdef enum:
    # What is known of an operator on two classes: the formula, and the class of the result.
    SAME_FORMULA = 1             # a quotient by two divisions
    BY_RECIPROCAL = 2            # a quotient by two multiplications
    OF_NUMPY = 4
    ZEROS = 8                    # zeros have the formula's signs, too

# What is known of it; 0 where there is no formula.
cdef int known_of(int code, const Number* x, const Number* y) noexcept


cdef inline bint is_exact(double x, double y, double product) noexcept:
    """Whether a product or a quotient is nothing that NumPy could warn of."""
    return isnormal(product) or x == 0.0 or y == 0.0


cdef inline bint product_of(const Number* x, const Number* y, double* w) noexcept:
    cdef double p = x.re * y.re, q = x.im * y.im, s = x.re * y.im, t = x.im * y.re
    w[0], w[1] = p - q, s + t
    return is_exact(x.re, y.re, p) and is_exact(x.im, y.im, q) and is_exact(x.re, y.im, s) and is_exact(x.im, y.re, t)


cdef inline bint quotient_of(const Number* x, const Number* y, bint by_reciprocal, double* w) noexcept:
    """Smith's: by the ratio of the divisor's parts."""
    cdef bint is_flat = fabs(y.re) >= fabs(y.im)
    cdef double large = y.re if is_flat else y.im, small = y.im if is_flat else y.re
    cdef double ratio, step, size, p, q, scale, re, im
    if large == 0.0:
        return False
    ratio = small / large
    step = small * ratio
    size = large + step
    p, q = x.re * ratio, x.im * ratio
    if is_flat:
        re, im = x.re + q, x.im - p
    else:
        re, im = p + x.im, q - x.re
    if by_reciprocal:
        scale = 1.0 / size
        w[0], w[1] = re * scale, im * scale
    else:
        scale = 1.0
        w[0], w[1] = re / size, im / size
    return (is_exact(small, 1.0, ratio) and is_exact(small, ratio, step) and isnormal(size) and isnormal(scale)
            and is_exact(x.re, ratio, p) and is_exact(x.im, ratio, q) and is_exact(re, 1.0, w[0])
            and is_exact(im, 1.0, w[1]))


cdef inline bint compute(int code, int known, const Number* x, const Number* y, double* w) noexcept:
    """The value by a formula, and whether it is the operator's without a doubt."""
    cdef bint is_sure = True
    if code == ADD:
        w[0], w[1] = x.re + y.re, x.im + y.im
    elif code == SUBTRACT:
        w[0], w[1] = x.re - y.re, x.im - y.im
    elif code == MULTIPLY:
        is_sure = product_of(x, y, w)
    else:
        is_sure = quotient_of(x, y, known & BY_RECIPROCAL, w)
    if known & ZEROS:
        return is_sure and isfinite(w[0]) and isfinite(w[1])
    return is_sure and isnormal(w[0]) and isnormal(w[1])
