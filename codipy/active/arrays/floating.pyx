# SPDX-License-Identifier: Apache-2.0
"""Floating-point warnings of array expressions.

The tiles raise the processor's flags as NumPy's loops do, but for a whole expression at once. Where one is up, and
NumPy's rules do not ignore it, NumPy computes the expression again, step by step: it says what it has to say, in its
own words, and is silent about flags that are up for nothing. Rejected: messages of our own, which would name no operation.
"""
import warnings

import numpy as np

from cpython.object cimport PyObject

from codipy.active.core.pending cimport Leaf, Pending
from codipy.active.storage.view cimport View
from codipy.data.plain cimport plain_array
from codipy.operations.kernels cimport op_arity
from codipy.programs.tiles cimport ROUND_RESULT, ROUND_STEPS
from codipy.tape.activity cimport surroundings_of_thread
from codipy.tape.surroundings cimport Surroundings

from codipy.operations import TABLE
from codipy.programs.tiles import ufunc_of

cdef extern from "codipy/programs/flags.h":
    int FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INVALID

cdef extern from "Python.h":
    int PyContextVar_Get(object variable, PyObject* default, PyObject** value) except -1
    void release "Py_DECREF"(PyObject* x)

cdef object RULES = getattr(vars(np)["_core"].umath, "_extobj_contextvar", None)      # no public name
cdef dict KINDS = {"divide": FE_DIVBYZERO, "over": FE_OVERFLOW, "under": FE_UNDERFLOW, "invalid": FE_INVALID}


cdef object rules_in_force():
    cdef PyObject* value = NULL
    if RULES is None:
        return None
    PyContextVar_Get(RULES, NULL, &value)
    rules = <object>value
    release(value)
    return rules


cdef object known_rules = None
cdef int heeded = 0          # the flags that known_rules do not ignore
cdef bint patient = False    # known_rules do no more than warn


cdef int learn(object rules) except -1:
    """Of rules that are in force."""
    global known_rules, heeded, patient
    modes = np.geterr()
    heeded, known_rules = sum([flag for kind, flag in KINDS.items() if modes[kind] != "ignore"]), rules
    patient = set(modes.values()) <= {"ignore", "warn"}
    return 0


cdef bint may_wait(object rules) except -1:
    cdef PyObject* began = surroundings_of_thread()
    if rules is None or rules is not known_rules:
        learn(rules)
    return patient and began != NULL and not (<Surroundings>began).strict and (<Surroundings>began).hold()


cdef int report(Pending p, const View* shape, int flags) except -1:
    cdef PyObject* began = surroundings_of_thread()
    rules = rules_in_force() if p.rules is None else p.rules
    token = None
    if rules is not None and rules is known_rules and not flags & heeded:
        return 0         # underflow, mostly
    if rules is not rules_in_force():
        token = RULES.set(rules)
    try:
        learn(rules)
        if flags & heeded:
            if p.waits and began != NULL and not (<Surroundings>began).hold():
                with warnings.catch_warnings():      # what waited did so since before they were changed
                    (<Surroundings>began).restore()
                    repeat(p, shape)
            else:
                repeat(p, shape)
    finally:
        if token is not None:
            RULES.reset(token)
    return 0


cdef int repeat(Pending p, const View* shape) except -1:
    """NumPy's own run of the expression."""
    cdef list leaves = [leaf_value(p.leaves + k, shape, p.single == ROUND_STEPS) for k in range(p.leaf_count)]
    cdef list results = []
    cdef int k, a, source
    for k in range(p.step_count):
        operands = []
        for a in range(op_arity(p.steps[k].code)):
            source = p.steps[k].sources[a]
            operands.append(leaves[source] if source >= 0 else results[~source])
        for a in TABLE[p.steps[k].code].constant:       # of ldexp, which takes no float
            operands[a] = np.asarray(operands[a]).astype(np.int64)
        results.append(ufunc_of(TABLE[p.steps[k].code])(*operands))
    if p.single == ROUND_RESULT:
        results.pop().astype(np.float32)
    return 0


cdef object leaf_value(const Leaf* leaf, const View* shape, bint single):
    """A number, or a view of the memory that the leaf reads, which lives as long as the expression; or its float32."""
    if leaf.buffer == NULL:
        return leaf.number if single else np.float64(leaf.number)
    found = plain_array(leaf.data, shape.ndim, shape.shape, leaf.strides, 1, False, None)
    return found.astype(np.float32) if single else found
