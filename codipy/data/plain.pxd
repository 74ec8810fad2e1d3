# SPDX-License-Identifier: Apache-2.0
# Plain arrays of doubles over memory of codipy's own.
cdef enum:
    NUMPY_DIMS = 64              # no array of NumPy has more dimensions

# An array whose elements lie `strides` elements of `width` doubles each after one another, from `data` on; it keeps
# `owner`, which may be None, and can be written to or not.
cdef object plain_array(const double* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t width,
                        bint writable, object owner)
