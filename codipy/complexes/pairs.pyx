# SPDX-License-Identifier: Apache-2.0
"""Between plain complex arrays and pairs: arrays of floats whose last axis has the real and the imaginary part.

A pair lies in memory as NumPy's complex number does, so that each is a view of the other.
"""
import numpy as np

from cpython.ref cimport Py_INCREF
cimport numpy as cnp

from codipy.data.plain cimport NUMPY_DIMS

from codipy.errors import ActiveError

cnp.import_array()

COMPLEX_OF = {np.dtype(np.float64): np.dtype(np.complex128), np.dtype(np.float32): np.dtype(np.complex64)}


cdef object seen_as(cnp.ndarray array, int kind, int ndim, cnp.npy_intp* shape, cnp.npy_intp* strides, cnp.ndarray owner):
    """A view of the memory of an array; `owner` is whose it is."""
    cdef int flags = cnp.NPY_ARRAY_WRITEABLE if cnp.PyArray_ISWRITEABLE(array) else 0
    view = cnp.PyArray_New(np.ndarray, ndim, shape, kind, strides, cnp.PyArray_DATA(owner), 0, flags, <object>NULL)
    Py_INCREF(owner)
    cnp.PyArray_SetBaseObject(view, owner)
    return view


def complex_of_pairs(cnp.ndarray pairs not None):
    """The complex numbers of an ndarray of pairs, a view where the pairs lie as NumPy's numbers do.

    Parameters
    ----------
    pairs : ndarray
        Of float64 or float32, with two numbers along the last axis.

    Returns
    -------
    ndarray
    """
    cdef int ndim = cnp.PyArray_NDIM(pairs) - 1, k
    cdef cnp.npy_intp* strides = cnp.PyArray_STRIDES(pairs)
    cdef int kind = cnp.NPY_CDOUBLE if cnp.PyArray_TYPE(pairs) == cnp.NPY_DOUBLE else cnp.NPY_CFLOAT
    cdef bint one = True
    cdef cnp.ndarray number
    if kind == cnp.NPY_CFLOAT and cnp.PyArray_TYPE(pairs) != cnp.NPY_FLOAT or not cnp.PyArray_ISNOTSWAPPED(pairs):
        raise TypeError(f"pairs must be of float64 or float32, got {pairs.dtype}")
    if ndim < 0 or cnp.PyArray_DIM(pairs, ndim) != 2:
        raise ValueError(f"pairs must have two numbers along the last axis, got shape {np.shape(pairs)}")
    if strides[ndim] == cnp.PyArray_ITEMSIZE(pairs):
        return seen_as(pairs, kind, ndim, cnp.PyArray_DIMS(pairs), strides, pairs)
    if cnp.PyArray_SIZE(pairs) == 0:
        return np.empty(np.shape(pairs)[:ndim], np.complex128 if kind == cnp.NPY_CDOUBLE else np.complex64)
    for k in range(ndim + 1):
        one &= strides[k] == 0
    if one:                      # one number in the place of all, of which only the shape is asked
        number = np.array(pairs[(0,) * (ndim + 1)], np.complex128 if kind == cnp.NPY_CDOUBLE else np.complex64)
        return seen_as(number, kind, ndim, cnp.PyArray_DIMS(pairs), strides, number)
    return complex_of_pairs(np.ascontiguousarray(pairs))


def pairs_of_complex(z):
    """The pairs of an ndarray or a number, a view where it is an array of complex128 or complex64.

    Parameters
    ----------
    z : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    ActiveError
        Of numbers with more digits than a float64 has.
    """
    cdef cnp.ndarray array = z if type(z) is np.ndarray else np.asarray(z)
    cdef cnp.npy_intp shape[NUMPY_DIMS]
    cdef cnp.npy_intp strides[NUMPY_DIMS]
    cdef int ndim, k, kind = cnp.PyArray_TYPE(array)
    if kind == cnp.NPY_LONGDOUBLE or kind == cnp.NPY_CLONGDOUBLE:
        raise ActiveError(f"{array.dtype} beside what is differentiated: only complex128 and complex64 can be "
                          "differentiated, use astype(complex), or complex() of a number")
    if kind != cnp.NPY_CDOUBLE and kind != cnp.NPY_CFLOAT or not cnp.PyArray_ISNOTSWAPPED(array):
        array = array.astype(np.complex64 if kind == cnp.NPY_FLOAT else np.complex128)
        kind = cnp.PyArray_TYPE(array)
    ndim = cnp.PyArray_NDIM(array)
    if ndim == NUMPY_DIMS:
        raise ValueError(f"an array of complex numbers with {ndim} dimensions has no pairs")
    for k in range(ndim):
        shape[k], strides[k] = cnp.PyArray_DIM(array, k), cnp.PyArray_STRIDE(array, k)
    shape[ndim], strides[ndim] = 2, cnp.PyArray_ITEMSIZE(array) // 2
    return seen_as(array, cnp.NPY_DOUBLE if kind == cnp.NPY_CDOUBLE else cnp.NPY_FLOAT, ndim + 1, shape, strides, array)
