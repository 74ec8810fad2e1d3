# SPDX-License-Identifier: Apache-2.0
"""Rules run without NumPy's warnings."""
import numpy as np

from cpython.object cimport PyObject

# NumPy's own rules for floating-point errors are a context variable, and its object for "ignore" everywhere never
# changes: np.errstate makes it anew at each entry, and takes as long as a product of two 4 x 4 matrices. Where NumPy
# has another variable it is np.errstate's business.
cdef object rules = getattr(np._core.umath, "_extobj_contextvar", None), ignoring = None


cdef extern from "Python.h":
    object PyContextVar_Set(object variable, object value)
    int PyContextVar_Reset(object variable, object token) except -1
    object PyObject_Call(object function, object arguments, PyObject* names)


cdef object in_silence(object rule, tuple arguments, dict names=None):
    global ignoring
    if ignoring is None:
        with np.errstate(all="ignore"):
            ignoring = False if rules is None else rules.get()
    if ignoring is False:
        with np.errstate(all="ignore"):
            return rule(*arguments) if names is None else rule(*arguments, **names)
    token = PyContextVar_Set(rules, ignoring)
    try:
        return PyObject_Call(rule, arguments, <PyObject*>names if names is not None else NULL)
    finally:
        PyContextVar_Reset(rules, token)
