# SPDX-License-Identifier: Apache-2.0
"""What Python does with warnings when a recording begins."""
import sys
import warnings

from libc.stdint cimport uint64_t
from cpython.object cimport PyObject
cimport cython

from codipy.operations import TABLE

cdef extern from *:
    """
    /* A number that changes with a dictionary; 0: not known, so look what it holds. */
    #if PY_VERSION_HEX < 0x030C0000
    #define codipy_version(dictionary) (((PyDictObject *)(dictionary))->ma_version_tag)
    #else
    #define codipy_version(dictionary) 0
    #endif

    static inline int codipy_same_items(PyObject *list, PyObject *tuple)
    {
        Py_ssize_t n = PyTuple_GET_SIZE(tuple), k = 0;
        if (PyList_GET_SIZE(list) != n)
            return 0;
        while (k < n && PyList_GET_ITEM(list, k) == PyTuple_GET_ITEM(tuple, k))
            k++;
        return k == n;
    }
    """
    uint64_t codipy_version(PyObject* dictionary) noexcept
    bint codipy_same_items(PyObject* items, PyObject* held) noexcept

cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(PyObject* d, object key) except? NULL
    int PyContextVar_Get(object variable, PyObject* default, PyObject** value) except -1
    void release "Py_XDECREF"(PyObject* x)

cdef dict module = vars(warnings)
cdef PyObject* state = <PyObject*>module
# From Python 3.14 on, where it is asked for: `catch_warnings` changes a context, not the module.
cdef object CONTEXT = (getattr(sys.modules["_warnings"], "_warnings_context", None)
                       if getattr(sys.flags, "context_aware_warnings", False) else None)
cdef Surroundings last = None


@cython.final
cdef class Surroundings:
    """Surroundings()
    --

    What Python does with warnings at some moment; made by recordings.
    """
    cdef bint hold(self) except -1:
        """Whether all is as it was. Filters are replaced by `catch_warnings` and changed in place by all others."""
        cdef uint64_t version = codipy_version(state)
        if version == 0 or version != self.version:
            if CONTEXT is not None:
                if context_in_force() is not self.context:
                    return False
            elif PyDict_GetItemWithError(state, "filters") != <PyObject*>self.filters:
                return False
            if PyDict_GetItemWithError(state, "showwarning") != <PyObject*>self.show:
                return False
            self.version = version
        return codipy_same_items(<PyObject*>self.filters, <PyObject*>self.items) or concern_the_same(self)

    def restore(self):
        """Inside of a catch_warnings() of the caller's: all as it was, until that ends."""
        if CONTEXT is None:
            warnings.filters[:] = self.items
            warnings.showwarning, warnings._showwarnmsg_impl = self.show, self.hidden
        else:
            warnings._get_filters()[:] = self.items
            warnings._get_context().log = self.hidden


cdef object context_in_force():
    cdef PyObject* value = NULL
    PyContextVar_Get(CONTEXT, NULL, &value)
    found = None if value == NULL else <object>value
    release(value)
    return found


cdef tuple others = ()                 # filters that were found not to be ...
cdef Surroundings others_began = None  # ... those of these Surroundings any more


cdef bint concern_the_same(Surroundings began) except -1:
    # Many modules add a filter of warnings of their own when they are imported, which may happen while it records.
    global others, others_began
    cdef tuple items
    if began is others_began and codipy_same_items(<PyObject*>began.filters, <PyObject*>others):
        return False
    items = tuple(began.filters)
    if [*filter(concerns, items)] != [*filter(concerns, began.items)]:
        others, others_began = items, began
        return False
    began.items = items
    return True


cdef tuple messages = ()       # that NumPy has for the operations of the table


def concerns(item):
    """Whether a filter may be the one that decides what becomes of a floating-point warning."""
    global messages
    _, message, category, _, _ = item
    if not issubclass(RuntimeWarning, category):
        return False
    if message is None or not hasattr(message, "match"):
        return True
    if not messages:
        names = {name for row in TABLE for name in (*row.numpy, row.scipy) if name} | {"cast"}
        kinds = "divide by zero", "invalid value", "overflow", "underflow"
        messages = tuple([f"{kind} encountered in {name.rpartition('.')[2]}" for kind in kinds for name in sorted(names)])
    return any(map(message.match, messages))


def may_raise(filters):
    """Whether a filter may turn a RuntimeWarning into an exception: the first that fits decides, if it fits for sure."""
    for action, message, category, module, line in filters:
        if issubclass(RuntimeWarning, category):
            if action == "error":
                return True
            if message is None and module is None and line == 0:
                return False
    return warnings.defaultaction == "error"


cdef Surroundings surroundings():
    global last
    cdef Surroundings new
    if last is not None and last.hold():
        return last
    new = Surroundings.__new__(Surroundings)
    new.filters = warnings.filters if CONTEXT is None else warnings._get_filters()
    if type(new.filters) is not list:
        new.filters = list(new.filters)      # somebody's own: it never holds, and nothing waits
    new.items = tuple(new.filters)
    new.show = warnings.showwarning
    new.hidden = warnings._showwarnmsg_impl
    if CONTEXT is not None:
        new.context = context_in_force()
        new.hidden = getattr(new.context, "log", None)
    new.strict = may_raise(new.items)
    last = new
    return new
