# SPDX-License-Identifier: Apache-2.0
# One Array in all the places in which a plain array stands.
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array


# An Array in all places of a plain array, of which the caller has so many references itself; None where that cannot be.
cdef Array exchanged_together(PyObject* plain, Py_ssize_t references, list roots, list frames, Py_ssize_t first,
                              bint asks=*, bint in_drivers=*)
# The same where rebuilt code came upon it, in a holder.
cdef Array exchanged_here(PyObject* plain, Py_ssize_t references, object holder)
# The functions that run on this thread, the innermost first.
cdef list running()
