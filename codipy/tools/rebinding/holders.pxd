# SPDX-License-Identifier: Apache-2.0
# Who has an object: the places that can be exchanged, and how many references these and waiting functions account for.
from cpython.object cimport PyObject


cdef class Holders:
    cdef PyObject* wanted            # borrowed
    cdef Py_ssize_t count            # references of `places` and of local variables that nobody reads meanwhile
    cdef list places
    cdef Py_ssize_t _enough, _left   # references to be found, and things that are still looked at
    cdef list _waiting
    cdef dict _seen                  # by address, what was looked at, which it keeps
    cdef bint search(self, list roots, list frames, Py_ssize_t first, Py_ssize_t enough, bint asks=*,
                     bint in_drivers=*) except -1
    cdef int _look_through(self) except -1
    cdef int _add(self, PyObject* o) except -1
    cdef int _take(self, object place) except -1
    cdef int _visit(self, object o) except -1
    cdef int _visit_dict(self, object o) except -1
    cdef int _visit_function(self, object f) except -1
    cdef int _visit_class(self, object cls) except -1
    cdef int _visit_instance(self, object o) except -1
    cdef int _visit_frame(self, object frame, bint waits) except -1
    cdef int _count_given(self, object frame) except -1
    cdef int _scan(self, object o) except -1
    cdef int _ask_collector(self, bint in_drivers) except -1
