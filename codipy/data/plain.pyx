# SPDX-License-Identifier: Apache-2.0
"""Plain arrays of doubles over memory of codipy's own."""
import numpy as np

from cpython.ref cimport Py_INCREF
cimport numpy as cnp

cnp.import_array()


cdef object plain_array(const double* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t width,
                        bint writable, object owner):
    cdef cnp.npy_intp steps[NUMPY_DIMS]
    cdef int k
    for k in range(ndim):
        steps[k] = strides[k] * width * <Py_ssize_t>sizeof(double)
    array = cnp.PyArray_New(np.ndarray, ndim, <cnp.npy_intp*>shape, cnp.NPY_DOUBLE, steps, <void*>data, 0,
                            cnp.NPY_ARRAY_WRITEABLE if writable else 0, <object>NULL)
    if owner is not None:
        Py_INCREF(owner)
        cnp.PyArray_SetBaseObject(array, owner)
    return array
