# SPDX-License-Identifier: Apache-2.0
# The active complex number in C: what it holds. Its operators are in arithmetic.pyx, all else in scalar.py.
from codipy.active.scalar.real cimport Real


cdef class ComplexNumber:
    cdef Real re
    cdef Real im
    cdef int form                # PYTHON for complex, DOUBLE for numpy.complex128, SINGLE for numpy.complex64
    cdef object __weakref__
