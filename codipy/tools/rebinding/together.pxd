# SPDX-License-Identifier: Apache-2.0
# One Array in all the places in which a plain array stands.
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array


# An Array in all places of a plain array, as in those of its views; None where that cannot be. By the address of an
# array, `references` says how many the caller has itself.
cdef Array exchanged_together(PyObject* plain, dict references, list roots, list frames, Py_ssize_t first,
                              bint asks=*, bint in_drivers=*)
# Whether the driver that runs differentiates by an array with the memory of a plain one.
cdef bint is_differentiated_by(PyObject* plain) except -1
# The same where rebuilt code came upon it, in a holder.
cdef Array exchanged_here(PyObject* plain, Py_ssize_t references, object holder)
# The functions that run on this thread, the innermost first.
cdef list running()
