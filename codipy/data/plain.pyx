# SPDX-License-Identifier: Apache-2.0
"""Plain arrays of doubles over memory of codipy's own."""
import numpy as np

from cpython.ref cimport Py_INCREF
cimport numpy as cnp

from codipy.data.buffer cimport Buffer, new_buffer, wrap_array

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once


cdef object plain_array(const double* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t width,
                        bint writable, object owner):
    cdef cnp.npy_intp steps[NUMPY_DIMS]
    cdef int k
    for k in range(ndim):
        steps[k] = strides[k] * width * <Py_ssize_t>sizeof(double)
    array = cnp.PyArray_New(ndarray, ndim, <cnp.npy_intp*>shape, cnp.NPY_DOUBLE, steps, <void*>data, 0,
                            cnp.NPY_ARRAY_WRITEABLE if writable else 0, <object>NULL)
    if owner is not None:
        Py_INCREF(owner)
        cnp.PyArray_SetBaseObject(array, owner)
    return array


def pooled_array(Py_ssize_t size):
    """A new array of doubles, not set, in memory that goes back to the pool with it.

    For results as large as a page or more that a caller makes again and again: the C library gives such memory back to
    the system and takes it anew, at 2 us for each page of 4 KB.

    Parameters
    ----------
    size : int

    Returns
    -------
    ndarray
        In one axis.
    """
    cdef Py_ssize_t unit = 1
    if size < 0:
        raise ValueError(f"an array has no negative size, got {size}")
    cdef Buffer buffer = new_buffer(size)
    return plain_array(buffer.data, 1, &size, &unit, 1, True, buffer)


def buffer_of(cnp.ndarray array not None):
    """A Buffer on a plain array.

    Parameters
    ----------
    array : ndarray
        Of native doubles in one row, side by side and aligned, which nobody will ever write to.

    Returns
    -------
    Buffer
    """
    if cnp.PyArray_TYPE(array) != cnp.NPY_DOUBLE or cnp.PyArray_NDIM(array) != 1 or not cnp.PyArray_ISCARRAY_RO(array):
        raise ValueError("values are native doubles in one row, side by side and aligned")
    return wrap_array(array, <double*>cnp.PyArray_DATA(array), cnp.PyArray_SIZE(array))


def array_on(Buffer buffer not None, Py_ssize_t offset, tuple shape not None, tuple strides not None):
    """A read-only plain array of values in a Buffer, which is its base.

    Parameters
    ----------
    buffer : Buffer
    offset : int
        Of the first element, in doubles.
    shape, strides : tuple of int
        Strides in doubles.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an element would lie outside.
    """
    cdef Py_ssize_t[NUMPY_DIMS] sizes
    cdef Py_ssize_t[NUMPY_DIMS] steps
    cdef int k
    if len(shape) != len(strides) or len(shape) > NUMPY_DIMS or any([abs(n) >= 1 << 40 for n in shape + strides]):
        raise ValueError("an array has as many strides as dimensions")
    for k in range(<int>len(shape)):
        sizes[k], steps[k] = shape[k], strides[k]
    ways = [(n - 1) * step for n, step in zip(shape, strides)]
    inside = offset + sum([way for way in ways if way < 0]), offset + sum([way for way in ways if way > 0])
    if min(shape, default=1) < 0 or not 0 <= offset <= buffer.size or min(shape, default=1) and not (
            0 <= inside[0] and inside[1] < buffer.size):
        raise ValueError("an array lies inside of its memory")
    return plain_array(buffer.data + offset, <int>len(shape), sizes, steps, 1, False, buffer)
