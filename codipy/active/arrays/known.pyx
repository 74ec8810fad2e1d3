# SPDX-License-Identifier: Apache-2.0
"""Expressions whose values are known before they are computed."""
from libc.string cimport memcpy
cimport numpy as cnp

from codipy.active.arrays.compute cimport materialise
from codipy.active.core.base_array cimport BaseArray, is_array
from codipy.active.storage.storage cimport new_storage
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.programs.tiles cimport ROUND_NONE

cnp.import_array()


def with_known_values(x, cnp.ndarray values not None):
    """with_known_values(x, values)
    --

    Record an expression with the values that somebody has computed in another order of rounding.

    A library that has run gives the values, to the last bit; the expression gives the derivative. It is not computed.

    Parameters
    ----------
    x : Array
        What a sum or another operation on Arrays gave.
    values : ndarray of float64
        Of its shape, in the order of C; they are copied.

    Returns
    -------
    bool
        Whether `x` has these values now. It has not where it is no expression of float64 that waits: then nothing was
        done.
    """
    cdef BaseArray a
    cdef Buffer buffer
    if not is_array(x):
        return False
    a = <BaseArray>x
    if a.pending is None or a.storage is not None or a.pending.single != ROUND_NONE:
        return False
    if (cnp.PyArray_TYPE(values) != cnp.NPY_DOUBLE or not cnp.PyArray_IS_C_CONTIGUOUS(values)
            or values.ndim != a.geometry.ndim or values.size != a.geometry.size):
        return False
    buffer = new_buffer(a.geometry.size)
    memcpy(buffer.data, cnp.PyArray_DATA(values), a.geometry.size * sizeof(double))
    a.storage = new_storage(buffer, None, False)
    materialise(a)
    return True
