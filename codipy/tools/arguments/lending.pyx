# SPDX-License-Identifier: Apache-2.0
"""Arguments that a driver does not differentiate by and that the function fills: ``def f(p, work): work[0] = p``.

The caller has such an array too, and looks at it when the driver has returned. So an Array stands in the arguments, and
wherever else the array is found, while the function is recorded; then the array gets the values, see `together.pyx`.
"""
import numpy as np

from cpython.object cimport PyObject

from codipy.tools.driver cimport Driver
from codipy.tools.pool cimport waits_for_rebound
from codipy.tools.rebinding.together cimport exchanged_together, is_differentiated_by, running

from codipy.tools.arguments.calls import measured
from codipy.tools.rebinding.filled import filled_parameters
from codipy.tools.rebinding.frames import is_unpacked
from codipy.tools.rebinding.unit import CURRENT

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept
    PyObject* PyTuple_GET_ITEM(object o, Py_ssize_t i) noexcept
    PyObject* PyDict_GetItem(object o, object key) noexcept


cdef class Lending:
    """Lending(place, run, args, kwargs, leaves, kind)
    --

    What puts inputs into the arguments of a function, and then Arrays in the places of plain ones that it fills.

    Parameters
    ----------
    place : callable
        ``place(args, inputs)`` puts inputs there.
    run : function
        What `rebind` returned.
    args, kwargs : tuple, dict
        The arguments of the caller; `kwargs` is changed.
    leaves : list
        What is differentiated by.
    kind : str or None
        How the caller called the driver: "gradient", "object" or "function"; None for what has its arguments as a tuple.
    """
    cdef object place, run, args, kind
    cdef dict kwargs
    cdef list leaves, before

    def __init__(self, place, run, args, dict kwargs, list leaves, kind):
        self.place, self.run, self.args, self.kwargs, self.leaves, self.kind = place, run, args, kwargs, leaves, kind
        self.before = None

    def remember(self):
        """Keep the values that the arrays have before."""
        self.before = []

    def put_back(self):
        """Give the arrays these values again, for another run in the place of this one."""
        for array, values in self.before:
            array[...] = values

    @property
    def without(self):
        """What puts the inputs into the arguments, and nothing in the places of others."""
        return self.place

    @property
    def twins(self):
        """Of what puts the inputs into the arguments."""
        return getattr(self.place, "twins", None)

    def __call__(self, list args, inputs):
        self.place(args, inputs)
        if not waits_for_rebound():
            return
        CURRENT[self.run]()      # views of modules are copies, of which those made later would not be found
        frames = running()
        roots = [args, self.args, self.kwargs, self.run]
        for where in filled_parameters(self.run)[0]:
            if type(where) is int and where < len(args):
                self.lend(PyList_GET_ITEM(args, where), roots, frames)
        for name in filled_parameters(self.run)[1]:
            self.lend(PyDict_GetItem(self.kwargs, name), roots, frames)

    cdef int lend(self, PyObject* plain, list roots, list frames) except -1:
        cdef Py_ssize_t k
        cdef dict references = {}
        if plain == NULL or type(<object>plain) is not np.ndarray:
            return 0
        if is_differentiated_by(plain):       # two variables, by one of which it is differentiated
            return 0
        if self.kind is not None:
            for k in range(len(<tuple>self.args)):
                add_unseen(references, PyTuple_GET_ITEM(self.args, k), self.kind, frames, False)
            for name in self.kwargs:
                add_unseen(references, PyDict_GetItem(self.kwargs, name), self.kind, frames, True)
        values = None if self.before is None else (<object>plain).copy()
        if exchanged_together(plain, references, roots, frames, 0) is not None and values is not None:
            self.before.append((<object>plain, values))      # not before: that would be another reference
        return 0


def lends(run, args, kwargs):
    """lends(run, args, kwargs)
    --

    Whether some arguments are plain arrays that a function fills.

    Parameters
    ----------
    run : function
        What a driver runs.
    args, kwargs : list or tuple, dict
        The arguments.

    Returns
    -------
    bool
        See `filled_parameters`.
    """
    cdef tuple filled = filled_parameters(run)
    for where in <tuple>filled[0]:
        if where < len(args) and type(args[where]) is np.ndarray:
            return True
    if kwargs:
        for name in <tuple>filled[1]:
            if type((<dict>kwargs).get(name)) is np.ndarray:
                return True
    return False


# ---- The references of a call, which nobody can look up: of the interpreter's stack, of tuples on their way. ----

cdef Py_ssize_t references_of(tuple args, dict kwargs):
    """How many references the last argument of a call has, without that of the tuple or the dict."""
    return Py_REFCNT(PyDict_GetItem(kwargs, "x") if kwargs else PyTuple_GET_ITEM(args, len(args) - 1)) - 1


cdef class Probe(Driver):
    """Probe()
    --

    What is called as `codipy.tools.derivatives.gradient.Gradient` is.
    """
    def __init__(self):
        pass

    def __call__(self, *args, **kwargs):
        return references_of(args, kwargs)

    def count(self, tuple args, dict kwargs):
        """The same for what calls this with the arguments that it got."""
        return references_of(args, kwargs)


cdef int add_unseen(dict references, PyObject* value, kind, list frames, bint by_name) except -1:
    """Add what an argument is referred to by the call of a driver to what is known by its address."""
    if type(<object>value) is np.ndarray:
        references[<size_t>value] = (references.get(<size_t>value, 0)
                                     + unseen(kind, frames, <object>value, by_name))
    return 0


cdef Py_ssize_t unseen(kind, list frames, plain, bint by_name) except -1:
    """How many references the call of a driver has to an argument, beside those of its tuple or dict."""
    cdef dict found = measured(kind)
    frame = next((frame for frame in frames if frame.f_globals.get("__name__", "").partition(".")[0] != "codipy"), None)
    if frame is None:
        return 0
    if is_unpacked(frame):
        return found.get((True, by_name, True), 0)
    own, other = found.get((False, by_name, True), 0), found.get((False, by_name, False), 0)
    if own == other:
        return own
    # From Python 3.14 on the stack lends what stands in a local variable.
    variables = frame.f_locals
    return own if any([value is plain for value in variables.values()]) else other
