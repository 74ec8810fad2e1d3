# SPDX-License-Identifier: Apache-2.0
# Containers of the caller, and those that a function gets in their place.

cdef class Twins:
    cdef list pairs          # of each container, what was made of it, what it held, what the other held

    cpdef bint are_as_before(self)
