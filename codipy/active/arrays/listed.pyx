# SPDX-License-Identifier: Apache-2.0
"""Callables in the place of NumPy's, and equal to them: functions, and ufuncs with their methods.

Ufuncs ask no protocol of what is in a list. Here they see lists of Reals as Arrays.
"""
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE

from types import MethodType

import numpy as np

from codipy.active.arrays.protocol cimport short_way
from codipy.active.arrays.reductions cimport add_reduce_as_asked
from codipy.active.core.base_array cimport is_array
from codipy.tape.activity cimport current, is_passive

from codipy.active.scalar.real import Real

cdef extern from *:
    """
    static void codipy_call_by_vector(PyTypeObject *type, Py_ssize_t place)
    {
        type->tp_vectorcall_offset = place;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        type->tp_call = PyVectorcall_Call;
        PyType_Modified(type);
    }
    """
    void codipy_call_by_vector(PyTypeObject* type, Py_ssize_t place)

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t count)
    object PyObject_Vectorcall(object function, PyObject* const* arguments, size_t count, PyObject* names)
    void PyType_Modified(PyTypeObject*)
    bint PyType_HasFeature(type t, unsigned long feature) noexcept
    const unsigned long Py_TPFLAGS_HEAPTYPE

cdef frozenset METHODS = frozenset({"accumulate", "at", "outer", "reduce", "reduceat"})
cdef frozenset TUPLES = frozenset({"axes", "axis", "out", "where"})      # names of what may be a tuple and is no operand


cdef class Replacement:
    """Replacement()
    --

    What stands for a callable and is equal to it: found in dictionaries and sets where that is, and copied as that.
    """
    cdef object (*vectorcall)(Replacement, PyObject* const*, size_t, PyObject*)
    cdef readonly object original

    def __getattr__(self, name):
        return getattr(self.original, name)

    def __eq__(self, other):
        return self.original == ((<Replacement>other).original if isinstance(other, Replacement) else other)

    def __hash__(self):
        return hash(self.original)

    def __repr__(self):
        return repr(self.original)

    def __reduce__(self):
        return itself, (self.original,)


def itself(original):
    """What a copy of a Replacement is made of: the original."""
    return original


cdef class Listed(Replacement):
    """Listed(original, convert, convert_of_methods=None)
    --

    A ufunc, or one of its methods, called with lists as `convert` makes them. All else of it is the original's.

    A call without a list is handed on as it is, with the references that the interpreter has: one more would make a
    variable of each temporary. Rejected for that reason: a function of Python around the ufunc.

    Parameters
    ----------
    original : callable
    convert : callable
        Takes a list, a tuple or an object of a user's class, and gives an Array or what it was given.
    convert_of_methods : callable, optional
        The same for the methods, where a tuple may be an axis or an index.
    """
    cdef object convert, convert_of_methods
    cdef dict methods

    def __cinit__(self, original, convert, convert_of_methods=None):
        self.vectorcall = called
        self.original, self.convert, self.methods = original, convert, {}
        self.convert_of_methods = convert if convert_of_methods is None else convert_of_methods

    def __getattr__(self, name):
        value = getattr(self.original, name)
        if name not in METHODS:
            return value
        if name not in self.methods:
            self.methods[name] = Listed(value, self.convert_of_methods)
        return self.methods[name]


cdef object called(Replacement self, PyObject* const* arguments, size_t count, PyObject* names):
    cdef Py_ssize_t n = PyVectorcall_NARGS(count), k
    cdef PyTypeObject* kind
    cdef Py_ssize_t total = n + (len(<tuple>names) if names != NULL else 0)
    for k in range(total):
        kind = Py_TYPE(<object>arguments[k])
        if (kind == <PyTypeObject*>list or kind == <PyTypeObject*>tuple or kind == <PyTypeObject*>range
                or PyType_HasFeature(<type>kind, Py_TPFLAGS_HEAPTYPE)):       # of the user's, perhaps
            return converted(<Listed>self, arguments, n, names)
    return PyObject_Vectorcall(self.original, arguments, count, names)


cdef object converted(Listed self, PyObject* const* arguments, Py_ssize_t n, PyObject* names):
    cdef list positional = []
    cdef dict options = {}
    cdef Py_ssize_t k
    for k in range(n):
        positional.append(self.convert(<object>arguments[k]))
    if names != NULL:
        for name in <tuple>names:
            value = <object>arguments[n + len(options)]
            options[name] = value if name in TUPLES else self.convert(value)
    return self.original(*positional, **options)


class Probe0:
    """Says of which classes the arguments are that NumPy's protocol asks: one class for each place."""

    def __array_function__(self, function, types, arguments, options):
        return types


class Probe1(Probe0):
    pass


class Probe2(Probe0):
    pass


class Probe3(Probe0):
    pass


cdef tuple PROBES = (Probe0, Probe1, Probe2, Probe3)
cdef object dispatcher = type(np.max)


cdef class Asked(Replacement):
    """Asked(original, otherwise, kinds, first, unasked)
    --

    A function of NumPy that asks the protocol of its arguments, called as it is where that is enough; else `otherwise` is.

    Of an Array in a place that NumPy asks, the short way is asked before NumPy, which would ask that first: NumPy's own
    function for what it asks is one of Python. Rejected: a function of Python that looks at the arguments. Between array
    statements its frames are cold: two of them took 3 us of an `np.max` in a program.

    Parameters
    ----------
    original, otherwise : callable
    kinds : frozenset
        Types that need no conversion.
    first : int
        The first place by position which the protocol does not ask.
    unasked : frozenset
        The names of such parameters.
    """
    cdef object otherwise
    cdef frozenset kinds, unasked
    cdef Py_ssize_t first
    cdef bint dispatches
    cdef dict shapes         # of calls: how many arguments by position and which by name, to what NumPy asks of them

    def __cinit__(self, original, otherwise, kinds, first, unasked):
        self.vectorcall = asked
        self.original, self.otherwise, self.kinds, self.first, self.unasked = original, otherwise, kinds, first, unasked
        self.dispatches, self.shapes = type(original) is dispatcher, {}


cdef object asked(Replacement self, PyObject* const* arguments, size_t count, PyObject* names):
    cdef Asked this = <Asked>self
    cdef Py_ssize_t n = PyVectorcall_NARGS(count), total = n, k
    cdef bint is_enough = n <= this.first
    cdef int arrays = 0          # the places of Arrays
    cdef object kind
    if names != NULL:
        if this.unasked:
            for name in <tuple>names:
                is_enough = is_enough and name not in this.unasked
        total += len(<tuple>names)
    for k in range(total):
        kind = <object>Py_TYPE(<object>arguments[k])
        if kind not in this.kinds:
            is_enough = False
            break
        if kind is Real:         # which may be asked first
            arrays = -1
        elif arrays >= 0 and k < n and k < len(PROBES) and is_array(<object>arguments[k]):
            arrays |= 1 << k
    if not is_enough:
        return PyObject_Vectorcall(this.otherwise, arguments, count, names)
    if arrays > 0 and this.dispatches and current() != NULL and not is_passive():
        found = short(this, arrays, arguments, n, names)
        if found is not NotImplemented:
            return found
    return PyObject_Vectorcall(this.original, arguments, count, names)


cdef object short(Asked self, int arrays, PyObject* const* arguments, Py_ssize_t n, PyObject* names):
    """What the short way gives for Arrays in these places; NotImplemented also where NumPy would not ask it."""
    cdef tuple shape = (n, <object>names if names != NULL else ())
    places = self.shapes.get(shape)
    if places is None:
        places = self.shapes[shape] = places_asked(self.original, n, shape[1])
    if not <int>places & arrays:
        return NotImplemented
    return short_way(self.original, positional(arguments, n), named(arguments + n, names))


cdef int places_asked(function, Py_ssize_t n, tuple names) except -1:
    """The places that NumPy's protocol asks in a call of this shape, as bits: none where the function takes no such call."""
    cdef int places = 0
    cdef Py_ssize_t k
    if n > len(PROBES):
        return 0
    try:
        found = function(*[PROBES[k]() for k in range(n)], **dict.fromkeys(names))
    except Exception:        # of the call, which the user's own will raise again
        return 0
    if type(found) is tuple:
        for k in range(n):
            places |= (PROBES[k] in found) << k
    return places


cdef class Summing(Replacement):
    """Summing(original, otherwise, mean)
    --

    `numpy.sum` or `numpy.mean` of an Array, which are asked for often, and may be of what nobody else has: not through
    NumPy's protocol. `otherwise` sees all other calls.

    Parameters
    ----------
    original, otherwise : callable
    mean : bool
    """
    cdef object otherwise
    cdef bint mean

    def __cinit__(self, original, otherwise, mean):
        self.vectorcall = summing
        self.original, self.otherwise, self.mean = original, otherwise, mean


cdef object summing(Replacement self, PyObject* const* arguments, size_t count, PyObject* names):
    cdef Summing this = <Summing>self
    cdef Py_ssize_t n = PyVectorcall_NARGS(count)
    if n and is_array(<object>arguments[0]):
        found = add_reduce_as_asked(positional(arguments, n), named(arguments + n, names), this.mean, 1)
        if found is not NotImplemented:
            return found
    return PyObject_Vectorcall(this.otherwise, arguments, count, names)


cdef tuple positional(PyObject* const* arguments, Py_ssize_t n):
    return tuple([<object>arguments[k] for k in range(n)])


cdef dict named(PyObject* const* arguments, PyObject* names):
    cdef dict options = {}
    cdef Py_ssize_t k
    for k in range(len(<tuple>names) if names != NULL else 0):
        options[(<tuple>names)[k]] = <object>arguments[k]
    return options


cdef class Standing(Replacement):
    """Standing(original, function)
    --

    Calls `function`, and is found in dictionaries and sets where `original` is. As an attribute of a class it is a method
    if `original` is one there: functions in C are none.

    Parameters
    ----------
    original, function : callable
    """
    cdef readonly object function
    cdef bint binds

    def __cinit__(self, original, function):
        self.vectorcall = handed_on
        self.original, self.function, self.binds = original, function, hasattr(type(original), "__get__")

    def __get__(self, instance, owner):
        return self if instance is None or not self.binds else MethodType(self, instance)


cdef object handed_on(Replacement self, PyObject* const* arguments, size_t count, PyObject* names):
    return PyObject_Vectorcall((<Standing>self).function, arguments, count, names)


cdef int _prepare() except -1:
    cdef Listed one = Listed(len, len)
    cdef Standing other = Standing(len, len)
    cdef Asked third = Asked(len, len, frozenset(), 0, frozenset())
    cdef Summing fourth = Summing(len, len, False)
    codipy_call_by_vector(<PyTypeObject*>Listed, <char*>&one.vectorcall - <char*><PyObject*>one)
    codipy_call_by_vector(<PyTypeObject*>Standing, <char*>&other.vectorcall - <char*><PyObject*>other)
    codipy_call_by_vector(<PyTypeObject*>Asked, <char*>&third.vectorcall - <char*><PyObject*>third)
    codipy_call_by_vector(<PyTypeObject*>Summing, <char*>&fourth.vectorcall - <char*><PyObject*>fourth)
    for kind in (Listed, Standing, Asked, Summing):
        members = <dict>(<PyTypeObject*>kind).tp_dict
        members["__class__"] = property(lambda x: type(x.original))      # for isinstance
        members["__doc__"] = property(lambda x: x.original.__doc__)
        PyType_Modified(<PyTypeObject*>kind)
    return 0


_prepare()
