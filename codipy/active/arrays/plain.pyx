# SPDX-License-Identifier: Apache-2.0
"""Between Arrays and plain arrays: the same elements seen as the other."""
import numpy as np

cimport numpy as cnp

from codipy.active.arrays.compute cimport materialise, settle
from codipy.active.core.base_array cimport BaseArray, is_array, new_view
from codipy.active.scalar.kinds cimport plain_scalar
from codipy.active.scalar.real cimport Real
from codipy.active.storage.view cimport View, shape_tuple
from codipy.data.plain cimport plain_array
from codipy.data.strided cimport reach
from codipy.programs.tiles cimport MAX_DIMS

from codipy.errors import ActiveError

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once


cdef object ndarray_of(BaseArray a):
    """A read-only plain array of the values of a stored array, which stay as they are."""
    return singles_of(a, {}) if a.storage.single else doubles_of(a)


cdef object singles_of(BaseArray a, dict spans):
    """A copy of the part of the storage that a view spans, with the view's strides: sums depend on them."""
    cdef View* v = &a.geometry
    cdef Py_ssize_t first, last
    cdef int k
    reach(v.ndim, v.shape, v.strides, v.offset, &first, &last)
    known = first, last, a.storage.buffer
    span = spans.get(known)
    if span is None:
        span = spans[known] = single_copy(a.storage.buffer.data + first, last + 1 - first)
    shown = ndarray(shape_tuple(v), np.float32, span, 4 * (v.offset - first),
                       tuple([4 * v.strides[k] for k in range(v.ndim)]))
    shown.flags.writeable = False
    return shown


cdef object single_copy(const double* values, Py_ssize_t count):
    copy = np.empty(count, np.float32)
    cdef float* to = <float*>cnp.PyArray_DATA(<cnp.ndarray>copy)
    cdef Py_ssize_t i
    for i in range(count):
        to[i] = <float>values[i]
    return copy


cdef object doubles_of(BaseArray a):
    """A read-only plain array over the values of a stored array."""
    cdef View* v = &a.geometry
    if a.storage.buffer.data == NULL and v.size == 0:       # without elements, from outside
        return np.empty(shape_tuple(v))
    return plain_array(a.storage.buffer.data + v.offset, v.ndim, v.shape, v.strides, 1, False, a.storage.buffer)


cpdef object stand_in(BaseArray a):
    """A plain array in the place of an Array: of its values, dtype, layout and flags.

    Parameters
    ----------
    a : Array
        Computed if it is not yet.

    Returns
    -------
    ndarray
        For functions that do not write into it: the values may be shared with other arrays.
    """
    materialise(a)
    plain = ndarray_of(a)
    if not a.readonly:
        cnp.PyArray_ENABLEFLAGS(<cnp.ndarray>plain, cnp.NPY_ARRAY_WRITEABLE)
    return plain


def is_writable(cnp.ndarray array, /):
    """is_writable(array, /)
    --

    Whether a plain array may be written to: NumPy warns who asks that of what `broadcast_arrays` gave by its flags.

    Parameters
    ----------
    array : ndarray
        Of any kind.

    Returns
    -------
    bool
        As ``array.flags.writeable``.
    """
    return cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)


cpdef BaseArray shown_as(BaseArray a, object plain, object shown):
    """The view of an Array that a view of its stand-in is.

    Parameters
    ----------
    a : Array
        What the view is of.
    plain : ndarray
        Its stand-in.
    shown : ndarray
        A view of `plain`, or `plain` itself, for which `a` itself is returned.

    Returns
    -------
    Array
        Read-only where `shown` is.
    """
    cdef View view
    cdef BaseArray result
    cdef Py_ssize_t itemsize = plain.itemsize
    cdef int k
    if shown is plain:
        return a
    if shown.ndim > MAX_DIMS:
        raise ActiveError(f"an Array has at most {MAX_DIMS} dimensions, got {shown.ndim}")
    view.ndim, view.size, view.offset = shown.ndim, shown.size, a.geometry.offset
    if view.size:
        view.offset += (<char*>cnp.PyArray_DATA(shown) - <char*>cnp.PyArray_DATA(plain)) // itemsize
    cdef Py_ssize_t low, high
    for k in range(view.ndim):
        view.shape[k] = shown.shape[k]
        view.strides[k] = cnp.PyArray_STRIDE(shown, k) // itemsize
        if view.strides[k] * itemsize != cnp.PyArray_STRIDE(shown, k):
            raise ValueError(f"an Array has strides of whole elements, got {shown.strides} bytes")
    reach(view.ndim, view.shape, view.strides, view.offset, &low, &high)
    if view.size and (low < 0 or high >= a.storage.buffer.size):
        raise ValueError("the view would reach out of the memory of the Array")
    result = new_view(a, &view)
    result.readonly = not cnp.PyArray_ISWRITEABLE(shown)
    return result


cpdef bint is_view_of(object shown, object plain) except -1:
    """Whether a result is a view of a stand-in, or that itself, and not a view of a copy that was made on the way.

    Memory does not tell: two Arrays may share it until one of them is written to.
    """
    span = plain.base if isinstance(plain.base, ndarray) else plain      # NumPy skips what is a view itself
    while shown is not None:
        if shown is plain or shown is span:
            return True
        shown = getattr(shown, "base", None)
    return False


cdef object plain_of(x):
    if is_array(x):
        settle(<BaseArray>x)         # values alone: they are read after the recording too
        return ndarray_of(<BaseArray>x)
    return plain_scalar(<Real>x) if type(x) is Real else x


cdef object plain_index(index):
    if type(index) is tuple:
        return tuple([plain_index(i) for i in index])
    if type(index) is list:
        return [plain_index(i) for i in index]
    return plain_of(index)
