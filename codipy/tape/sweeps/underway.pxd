# SPDX-License-Identifier: Apache-2.0
# A sweep under way: a link of the list of all of them, so that a forked process finds those whose threads it has not got.
from cpython.object cimport PyObject


cdef struct UnderWay:
    UnderWay* next
    unsigned long thread     # that sweeps
    PyObject* tape           # BaseTape; borrowed: the caller has it
    PyObject* adjoints       # AdjointVector, or NULL: evaluate_primal
