# SPDX-License-Identifier: Apache-2.0
# What `grad` and its like return.

cdef class Driver:
    cdef dict __dict__           # the name and the documentation of f, and `__wrapped__`
    cdef object __weakref__
    cdef readonly object f, maker
    cdef readonly dict options   # what else `maker` was called with
