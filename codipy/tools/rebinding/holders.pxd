# SPDX-License-Identifier: Apache-2.0
# Who has an object: the places that can be exchanged, and how many references these and waiting functions account for.
from cpython.object cimport PyObject


cdef class Holders:
    cdef PyObject* wanted            # the first of `members`, which has the memory
    cdef list members                # the family
    cdef list counts                 # references of each: `places` have them, local variables that nobody reads meanwhile
    cdef list places
    cdef Py_ssize_t _left            # things that are still looked at
    cdef list _waiting
    cdef dict _given, _numbers       # by address, the caller's references; which of `members` it is
    cdef dict _seen                  # by address, what was looked at, which it keeps
    cdef bint _shows                 # whether it is NumPy's, so that views join
    cdef int begin(self, PyObject* o, dict references) except -1
    cdef int add_member(self, PyObject* o) except -1
    cdef Py_ssize_t missing(self) except? -2
    cdef Py_ssize_t _views(self) except -1
    cdef bint search(self, list roots, list frames, Py_ssize_t first, bint asks=*, bint in_drivers=*) except -1
    cdef bint _wants(self, PyObject* o) except -1
    cdef int _count(self, PyObject* o, Py_ssize_t references) except -1
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
    cdef int _count_kept(self, object frame, tuple names) except -1
    cdef int _scan(self, object o) except -1
    cdef int _visit_known(self) except -1
    cdef int _remember(self, cell) except -1
    cdef int _ask_collector(self, bint in_drivers) except -1
