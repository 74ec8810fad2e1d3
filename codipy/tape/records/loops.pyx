# SPDX-License-Identifier: Apache-2.0
"""Loops that rules ask for, where NumPy would need a dozen calls or a copy: on float64 in the order of C."""
from libc.math cimport exp, isfinite
cimport numpy as cnp

cnp.import_array()


cdef bint is_row(object x) noexcept:
    return (cnp.PyArray_Check(x) and cnp.PyArray_TYPE(<cnp.ndarray>x) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>x))


cdef const double* data_of(object x) noexcept:
    return <const double*>cnp.PyArray_DATA(<cnp.ndarray>x)


cdef cnp.ndarray new_like(object x):
    return cnp.PyArray_SimpleNew(cnp.PyArray_NDIM(<cnp.ndarray>x), cnp.PyArray_DIMS(<cnp.ndarray>x), cnp.NPY_DOUBLE)


def first_place(values, double number):
    """Where a number first stands among others.

    Parameters
    ----------
    values : ndarray
        Read as it lies, though nobody may write to it, which `numpy.argmax` copies.
    number : float
        Compared as `==` does.

    Returns
    -------
    int
        The flat position; -1 where the number is not, and for what is no float64 in the order of C.
    """
    if not is_row(values):
        return -1
    return loop_find(data_of(values), number, cnp.PyArray_SIZE(<cnp.ndarray>values))


def first_places(values, numbers, Py_ssize_t axis):
    """Where numbers first stand along an axis of an array.

    Parameters
    ----------
    values, numbers : ndarray
        As many numbers as `values` has elements without the axis.
    axis : int
        Not negative.

    Returns
    -------
    ndarray of intp or None
        Flat positions, compared as `==` does; None where a number is not there, and for what is no float64 in the order
        of C.
    """
    cdef cnp.ndarray found
    cdef const double* x
    cdef const double* sought
    cdef Py_ssize_t* to
    cdef Py_ssize_t i, j, k, outer = 1, n, inner = 1, place
    cdef cnp.npy_intp size
    if not (is_row(values) and is_row(numbers)):
        return None
    n = cnp.PyArray_DIM(<cnp.ndarray>values, <int>axis)
    for k in range(cnp.PyArray_NDIM(<cnp.ndarray>values)):
        if k < axis:
            outer *= cnp.PyArray_DIM(<cnp.ndarray>values, <int>k)
        elif k > axis:
            inner *= cnp.PyArray_DIM(<cnp.ndarray>values, <int>k)
    size = outer * inner
    found = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_INTP)
    x, sought, to = data_of(values), data_of(numbers), <Py_ssize_t*>cnp.PyArray_DATA(found)
    for i in range(outer):
        if inner == 1:
            to[i] = loop_find(x + i * n, sought[i], n)
            if to[i] < 0:
                return None
            to[i] += i * n
            continue
        for j in range(inner):
            to[i * inner + j] = -1
        for k in range(n - 1, -1, -1):       # backwards and without a branch: the first place is what stays
            place = (i * n + k) * inner
            for j in range(inner):
                to[i * inner + j] = place + j if x[place + j] == sought[i * inner + j] else to[i * inner + j]
        for j in range(inner):
            if to[i * inner + j] < 0:
                return None
    return found


cdef enum:
    SHORT = 64                   # elements of a row that are sorted by inserting them one by one


def sorted_places(values):
    """Where the elements of short rows stand that are sorted, those that are equal in the order in which they stand.

    Parameters
    ----------
    values : ndarray
        One axis or more; each row of the last one is sorted.

    Returns
    -------
    ndarray of intp or None
        Flat positions, of the shape of `values`; None for rows of more than 64, for what is no float64 in the order of C
        and where one of them is no number.
    """
    cdef cnp.ndarray found
    cdef const double* x
    cdef Py_ssize_t* to
    cdef Py_ssize_t i, j, k, n, size
    cdef double number
    if not is_row(values) or cnp.PyArray_NDIM(<cnp.ndarray>values) == 0:
        return None
    n = cnp.PyArray_DIM(<cnp.ndarray>values, cnp.PyArray_NDIM(<cnp.ndarray>values) - 1)
    size = cnp.PyArray_SIZE(<cnp.ndarray>values)
    if n > SHORT:
        return None
    found = cnp.PyArray_SimpleNew(cnp.PyArray_NDIM(<cnp.ndarray>values), cnp.PyArray_DIMS(<cnp.ndarray>values),
                                  cnp.NPY_INTP)
    x, to = data_of(values), <Py_ssize_t*>cnp.PyArray_DATA(found)
    for i in range(0, size, max(n, 1)):
        for j in range(i, i + n):
            number = x[j]
            if number != number:
                return None
            k = j
            while k > i and x[to[k - 1]] > number:
                to[k] = to[k - 1]
                k -= 1
            to[k] = j
    return found


def products_of_others(values, double factor):
    """For every element a factor times the product of all the others: products before times products behind.

    Parameters
    ----------
    values : ndarray
        Any shape.
    factor : float
        What the first of the products before is.

    Returns
    -------
    ndarray or None
        Of the shape of `values`; None for what is no float64 in the order of C, and where one of them is no number.
    """
    cdef cnp.ndarray found
    cdef const double* x
    cdef double* to
    cdef double behind = 1.0
    cdef bint lost = False
    cdef Py_ssize_t i, n
    if not is_row(values):
        return None
    found, x, n = new_like(values), data_of(values), cnp.PyArray_SIZE(<cnp.ndarray>values)
    to = <double*>cnp.PyArray_DATA(found)
    for i in range(n):
        to[i] = factor
        factor *= x[i]
    for i in range(n - 1, -1, -1):
        to[i] *= behind
        lost |= to[i] != to[i]
        behind *= x[i]
    return None if lost else found


def interpolated_back(g, x, xp, fp):
    """The cotangent of the points of `numpy.interp`: slopes to the right of knots, 0 outside and where `g` is 0.

    Parameters
    ----------
    g, x : ndarray
        Of one shape.
    xp, fp : ndarray
        Two knots or more.

    Returns
    -------
    ndarray or None
        None for what is no float64 in the order of C.
    """
    cdef cnp.ndarray found
    cdef const double* bars
    cdef const double* points
    cdef const double* knots
    cdef const double* values
    cdef double* to
    cdef double value
    cdef Py_ssize_t i, n, low, high, middle, k = 0, last
    if not (is_row(g) and is_row(x) and is_row(xp) and is_row(fp)):
        return None
    found = new_like(x)
    bars, points, knots, values = data_of(g), data_of(x), data_of(xp), data_of(fp)
    to, n, last = <double*>cnp.PyArray_DATA(found), cnp.PyArray_SIZE(<cnp.ndarray>x), cnp.PyArray_SIZE(<cnp.ndarray>xp) - 1
    for i in range(n):
        value = points[i]
        if bars[i] == 0.0 or value < knots[0] or value > knots[last]:
            to[i] = 0.0
            continue
        low, high = 1, last
        while low < high:
            middle = (low + high) // 2
            if value < knots[middle]:
                high = middle
            else:
                low = middle + 1
        k = low - 1
        to[i] = (values[k + 1] - values[k]) / (knots[k + 1] - knots[k]) * bars[i]
    return found


def shares_of_logs(g, out, a, Py_ssize_t axis):
    """The cotangent of sums of exponentials, as logarithms, along an axis: ``g * exp(a - out)``.

    Parameters
    ----------
    g, out : ndarray
        Without the axis, or with it of length 1.
    a : ndarray
        At least one dimension.
    axis : int
        Not negative.

    Returns
    -------
    ndarray or None
        None where a sum is not finite, and for what is no float64 in the order of C.
    """
    cdef cnp.ndarray found
    cdef const double* x
    cdef const double* sums
    cdef const double* bars
    cdef double* to
    cdef Py_ssize_t i, j, k, outer = 1, n, inner = 1
    if not (is_row(g) and is_row(out) and is_row(a)):
        return None
    n = cnp.PyArray_DIM(<cnp.ndarray>a, <int>axis)
    for k in range(cnp.PyArray_NDIM(<cnp.ndarray>a)):
        if k < axis:
            outer *= cnp.PyArray_DIM(<cnp.ndarray>a, <int>k)
        elif k > axis:
            inner *= cnp.PyArray_DIM(<cnp.ndarray>a, <int>k)
    found = new_like(a)
    x, sums, bars, to = data_of(a), data_of(out), data_of(g), <double*>cnp.PyArray_DATA(found)
    for i in range(outer):
        for k in range(n):
            for j in range(inner):
                if not isfinite(sums[i * inner + j]):
                    return None
                to[(i * n + k) * inner + j] = exp(x[(i * n + k) * inner + j] - sums[i * inner + j]) * bars[i * inner + j]
    return found


def taken(values, places, double factor):
    """The elements of a vector at some places, times a factor.

    Parameters
    ----------
    values : ndarray
        The vector.
    places : ndarray of intp
        Not negative.
    factor : float

    Returns
    -------
    ndarray or None
        None where a place is out of bounds, and for what is no float64, or no index, in the order of C.
    """
    cdef cnp.ndarray found
    if not is_row(values) or cnp.PyArray_TYPE(<cnp.ndarray>places) != cnp.NPY_INTP or not cnp.PyArray_ISCARRAY_RO(
            <cnp.ndarray>places):
        return None
    found = cnp.PyArray_SimpleNew(cnp.PyArray_NDIM(<cnp.ndarray>places), cnp.PyArray_DIMS(<cnp.ndarray>places),
                                  cnp.NPY_DOUBLE)
    if not loop_pick(data_of(values), <const Py_ssize_t*>cnp.PyArray_DATA(<cnp.ndarray>places), cnp.PyArray_SIZE(found),
                     cnp.PyArray_SIZE(<cnp.ndarray>values), factor, <double*>cnp.PyArray_DATA(found)):
        return None
    return found
