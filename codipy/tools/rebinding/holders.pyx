# SPDX-License-Identifier: Apache-2.0
"""Who has an array of the user's: an attribute and another one, a list and a variable, an argument and its caller.

An array that stands in several places can be exchanged only in all of them at once, else one would show other numbers
than another; and so can its views, which show the same memory. They are a **family**: the array that has the memory,
and its views as far as they are found. The references of each are counted: those of places that are found by looking
through what the function and its callers can reach, and those of the local variables of functions that wait until the
driver returns, which see nothing meanwhile. Where these are as many as the array has, there is no other one, and of the
array that has the memory each view has one too. What is overlooked is one reference that is not accounted for, and then
nothing is exchanged.
"""
import functools
import gc
import sys
import threading
import weakref
from collections import deque
from types import CellType, FrameType, FunctionType, GeneratorType, MemberDescriptorType, MethodType, ModuleType

from cpython.dict cimport PyDict_CheckExact, PyDict_Next
from cpython.list cimport PyList_CheckExact
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_Check
cimport numpy as cnp
import numpy as np

from codipy.active.array_type cimport Array
from codipy.tools.rebinding.made cimport is_array
from codipy.tools.rebinding.places cimport (
    Place,
    attribute_of,
    cell_of,
    is_tuple,
    item_of,
    local_of,
    variable_of,
)

from codipy.tools.rebinding.containers import origin_of_view
from codipy.tools.rebinding.frames import names_given, names_kept, unpacks_into_tuple
from codipy.tools.rebinding.unit import parts_of_views, translations_of, views_of

_TupleIterator = type(iter(()))

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        PyObject* tp_dict
        Py_ssize_t tp_dictoffset
    TypeObject* Py_TYPE(PyObject* o) noexcept
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept
    bint PyObject_IS_GC(PyObject* o) noexcept
    bint PyType_Check(object o) noexcept
    bint PyDict_Check(object o) noexcept
    PyObject* PyList_GET_ITEM(object o, Py_ssize_t i) noexcept
    PyObject* PyTuple_GET_ITEM(object o, Py_ssize_t i) noexcept
    PyObject* PyDict_GetItem(object o, object key) noexcept
    PyObject* PyCell_GET(PyObject* cell) noexcept
    object PyObject_GenericGetDict(object o, void* context)

cdef enum:
    MANY = 20_000                # things that are looked at from the roots, some 2 ms
    FEW = 500                    # from the variables of one function
    LONG = 10_000                # items of a list that are compared ...
    DEEP = 256                   # ... and of those that are lists and objects, how many are looked at
    KNOWN = 64                   # cells that were found, and functions that have them ...
    SEARCHES = 8                 # ... which are looked for so often for one array
    OPTIMIZED = 1                # of a code object: local variables stand in the frame and in no dict

# What NumPy's windows are views of: it has the array, whose memory they show without being one of the family.
cdef object WINDOWED = type(np.lib.stride_tricks.as_strided(np.zeros(1)).base)
cdef object CACHE = type(functools.lru_cache(None)(len))
cdef dict slots = {}             # by class


class _Thread(threading.local):
    def __init__(self):
        self.cells, self.functions = {}, {}


# Asking the collector takes some 14 ms in a process of a million objects. A cell of a comprehension or a lambda function
# that only the interpreter's stack has is found by that alone; so when the same cell was found twice, the function that
# has it is remembered by the address of the array, by a weak reference.
cdef object known = _Thread()


cdef tuple slots_of(object cls):
    """The slots of a class and those that it inherits, as descriptors."""
    found = slots.get(cls)
    if found is None:
        if len(slots) > 1000:
            slots.clear()
        found = slots[cls] = tuple([value for kind in cls.__mro__ for value in vars(kind).values()
                                    if type(value) is MemberDescriptorType])
    return found


cdef object dict_of(object o):
    try:
        return PyObject_GenericGetDict(o, NULL)
    except AttributeError:
        return None


cdef object generator_of(object frame):
    """The generator that waits in a frame, which up to Python 3.10 has the variables for Python's collector."""
    found = [o for o in gc.get_referrers(frame) if type(o) is GeneratorType and o.gi_frame is frame]
    return found[0] if found else None


cdef bint is_own(object o) except -1:
    """Whether a class or a function is codipy's."""
    name = o.__module__
    return type(name) is str and name.startswith("codipy.")


cdef bint is_codipys(frame) except -1:
    name = frame.f_globals.get("__name__")
    return type(name) is str and name.startswith("codipy.")


cdef int empty(object variables) except -1:
    """Empty the dict in which a frame told its variables, if nobody else has it: what it refers to is not counted twice."""
    if PyDict_CheckExact(variables) and Py_REFCNT(<PyObject*>variables) == 2 and sys.gettrace() is None:
        variables.clear()
    return 0


cdef class Holders:
    """What one search found."""

    cdef int begin(self, PyObject* o, dict references) except -1:
        """Look for an array and its views, or for an Array; by address, how many references the caller has itself.

        What else is known of the family is for `add_member`.
        """
        self.wanted, self._given = o, references
        self.members, self.counts, self._numbers = [], [], {}
        self._shows = is_array(o)
        self.add_member(o)
        return 0

    cdef int add_member(self, PyObject* o) except -1:
        """Look for this one too, which the caller has."""
        self._numbers[<size_t>o] = len(self.members)
        self.members.append(<object>o)
        self.counts.append(self._given.get(<size_t>o, 0))
        return 0

    cdef bint _wants(self, PyObject* o) except -1:
        """Whether it is one of the family; a view that is new joins it."""
        if o == self.wanted:
            return True
        if o == NULL or Py_TYPE(o) != Py_TYPE(self.wanted):
            return False
        if <size_t>o in self._numbers:
            return True
        if self._shows:
            if cnp.PyArray_BASE(<cnp.ndarray>o) != self.wanted:
                return False
        elif (<Array>o).pending is not None or (<Array>o).storage is not (<Array>self.wanted).storage:
            return False
        self.add_member(o)
        return True

    cdef int _count(self, PyObject* o, Py_ssize_t references) except -1:
        self.counts[self._numbers[<size_t>o]] += references
        return 0

    cdef Py_ssize_t missing(self) except? -2:
        """How many references are not accounted for; -1 where more were found than there are."""
        cdef Py_ssize_t k, left, found = 0
        for k in range(len(self.members)):
            left = Py_REFCNT(PyList_GET_ITEM(self.members, k)) - 1 - <Py_ssize_t>self.counts[k]      # 1 is the list's
            if k == 0:
                left -= self._views()
            if left < 0:
                return -1
            found += left
        return found

    cdef Py_ssize_t _views(self) except -1:
        """How many of the family refer to the first as what they are views of."""
        cdef Py_ssize_t k, count = 0
        if self._shows:
            return len(self.members) - 1
        for k in range(1, len(self.members)):
            count += <PyObject*>(<Array>self.members[k]).owner == self.wanted
        return count

    cdef bint search(self, list roots, list frames, Py_ssize_t first, bint asks=True, bint in_drivers=True) except -1:
        """Look for all references of the family; tell whether just these were found.

        Parameters
        ----------
        roots : list
            Where to begin.
        frames : list of frame
            The functions that run, the innermost first.
        first : int
            Of those that wait until the driver returns, the first one.
        asks : bool
            Whether Python's collector is asked if they are not found, which takes milliseconds.
        in_drivers : bool
            Whether what the driver's own functions have is looked at. Without it, what is differentiated by is not
            found in full: it is another variable in the function than the array that was passed.
        """
        cdef Py_ssize_t k
        self.places, self._waiting, self._seen, self._left = [], [], {}, MANY
        self._seen[<size_t><PyObject*>self.members] = self.members
        for k in range(len(roots)):
            self._add(PyList_GET_ITEM(roots, k))
        self._look_through()      # to the end: a call has fewer references than were expected where more are found
        for k in range(len(frames)):
            if self.missing() <= 0:
                break
            if not in_drivers and is_codipys(frames[k]):
                continue
            self._left = FEW
            self._visit_frame(frames[k], k >= first)
            if k > first and not is_codipys(frames[k - 1]) and unpacks_into_tuple(frames[k]):
                self._count_given(frames[k - 1])
            elif k > first and not is_codipys(frames[k - 1]):
                self._count_kept(frames[k - 1], names_kept(frames[k], frames[k - 1].f_code))
            self._look_through()
        if asks and self.missing() > 0:
            self._visit_known()
            if self.missing() > 0:
                self._ask_collector(in_drivers)
        self._waiting, self._seen = None, None
        return self.missing() == 0

    cdef int _look_through(self) except -1:
        cdef Py_ssize_t k = 0
        while k < len(self._waiting) and self._left > 0:
            self._visit(self._waiting[k])
            self._left -= 1
            k += 1
        self._waiting = []
        return 0

    cdef int _add(self, PyObject* o) except -1:
        """Look at something later, once."""
        if o == NULL or not PyObject_IS_GC(o) or <size_t>o in self._seen:
            return 0
        self._seen[<size_t>o] = <object>o
        self._waiting.append(<object>o)
        return 0

    cdef int _take(self, object place) except -1:
        cdef PyObject* held
        if place is not None:
            held = (<Place>place).held()
            if self._wants(held):
                self.places.append(place)
                self._count(held, (<Place>place).count(held))
        return 0

    cdef int _visit(self, object o) except -1:
        cdef Py_ssize_t k
        kind = type(o)
        if is_own(kind) or kind is WINDOWED:
            return 0
        if kind is FunctionType:
            return 0 if is_own(o) else self._visit_function(o)
        if kind is CellType:
            if self._wants(PyCell_GET(<PyObject*>o)):
                return self._take(cell_of(o, True))
            return self._add(PyCell_GET(<PyObject*>o))
        if kind is GeneratorType:
            if not o.gi_running and o.gi_frame is not None:
                self._visit_frame(o.gi_frame, False)
            return 0
        if kind is CACHE:
            self._visit_cache(o)
            return 0
        if kind is MethodType:
            own, function = o.__self__, o.__func__
            self._add(<PyObject*>own)
            return self._add(<PyObject*>function)
        if kind is functools.partial:
            for part in (o.func, o.args, o.keywords, *translations_of(o, getattr(o.func, "__globals__", None))):
                self._add(<PyObject*>part)
            return 0
        if kind is ModuleType:      # another one, of a library or of one that nothing was rebuilt of, is left out
            variables = o.__dict__
            return self._add(<PyObject*>variables) if views_of(variables) else 0
        origin = origin_of_view(o)
        if origin is not o:
            return self._add(<PyObject*>origin)
        if PyDict_Check(o):
            self._visit_dict(o)
        elif PyList_CheckExact(o):
            for k in range(min(len(<list>o), LONG)):
                if self._wants(PyList_GET_ITEM(o, k)):
                    self._take(item_of(o, k, True))
                elif k < DEEP:
                    self._add(PyList_GET_ITEM(o, k))
        elif PyTuple_Check(o) and is_tuple(o):
            for k in range(min(len(<tuple>o), LONG)):
                if self._wants(PyTuple_GET_ITEM(o, k)):
                    self._take(item_of(o, k, True))
                elif k < DEEP:
                    self._add(PyTuple_GET_ITEM(o, k))
        elif PyType_Check(o):
            return self._visit_class(o)
        elif kind is deque:
            for k in range(min(len(o), LONG)):
                self._visit_item(o, k)
        return self._visit_instance(o)

    def _visit_cache(self, cache):
        """What a cache of `functools` has: rebuilt code sees it through its own one, which gives the Array."""
        function = cache.__wrapped__
        self._add(<PyObject*>function)
        for new in translations_of(cache, getattr(function, "__globals__", None)):
            self._add(<PyObject*>new.cached)
        parts = gc.get_referents(cache)       # with the results of a bounded cache; others have them in a dict, the last
        own = None
        for part in parts:
            if type(part) is dict and part is not cache.__dict__:
                own = part
        if own is not None:
            parts += [result for result in own.values() if type(result).__name__ != "_lru_list_elem"]
        for part in parts:
            if self._wants(<PyObject*>part):
                self._count(<PyObject*>part, 1)
            elif part is not own:
                self._add(<PyObject*>part)

    def _visit_item(self, o, k):
        item = o[k]
        if not self._wants(<PyObject*>item):
            self._add(<PyObject*>item)
        else:
            self._take(item_of(o, k, True))

    cdef int _visit_dict(self, object o) except -1:
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t position = 0
        cdef list found = []
        cdef Py_ssize_t left = LONG
        while PyDict_Next(o, &position, &key, &value) and left:
            left -= 1
            if self._wants(value):
                found.append(<object>key)
            else:
                self._add(value)
        if found:
            views = views_of(o)
            for name in found:
                self._take(variable_of(views[0], name, True) if views else item_of(o, name, True))
        return 0

    cdef int _visit_function(self, object f) except -1:
        cdef list parts = [f.__closure__, f.__defaults__, f.__kwdefaults__, f.__dict__, *translations_of(f, f.__globals__)]
        if PyDict_CheckExact(f.__globals__) and views_of(f.__globals__):      # of a module of the user's
            parts.append(f.__globals__)
        for part in parts:
            self._add(<PyObject*>part)
        return 0

    cdef int _visit_class(self, object cls) except -1:
        """Attributes of the class itself, and what lists and functions in it have."""
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t position = 0
        cdef PyObject* variables = (<TypeObject*>cls).tp_dict
        cdef list found = []
        if variables == NULL:
            return 0
        while PyDict_Next(<dict>variables, &position, &key, &value):
            if self._wants(value):
                found.append(<object>key)
            elif type(<object>value) in (list, dict, tuple, FunctionType):
                self._add(value)
        for name in found:
            self._take(attribute_of(cls, name, True))
        return 0

    cdef int _visit_instance(self, object o) except -1:
        cdef TypeObject* kind = Py_TYPE(<PyObject*>o)
        if kind.tp_dictoffset:
            variables = dict_of(o)
            self._add(<PyObject*>variables)
        if not PyType_Check(o):
            for descriptor in slots_of(type(o)):
                self._visit_slot(o, descriptor)
            self._add(<PyObject*>kind)
        return 0

    def _visit_slot(self, o, descriptor):
        try:
            value = descriptor.__get__(o)
        except (AttributeError, TypeError):       # nothing is there
            return
        if not self._wants(<PyObject*>value):
            self._add(<PyObject*>value)
        else:
            self._take(attribute_of(o, descriptor.__name__, True))

    cdef int _visit_frame(self, object frame, bint waits) except -1:
        """What a function that is running has in its variables; its own reference counts if it waits."""
        cdef PyObject* value
        cdef list here = []
        cdef bint is_traced = sys.gettrace() is not None
        code = frame.f_code
        variables = frame.f_locals
        if not code.co_flags & OPTIMIZED:       # of a module or a class
            self._add(<PyObject*>variables)
            return 0
        # Up to Python 3.12 a dict that stays with the frame; later a view of the frame, which has no references.
        is_copy = PyDict_CheckExact(variables)
        cells = frozenset((*code.co_cellvars, *code.co_freevars))
        for name in list(variables):
            value = PyDict_GetItem(variables, name) if is_copy else NULL
            if not is_copy:
                item = variables[name]
                value = <PyObject*>item
            if self._wants(value):
                if name not in cells:
                    here.append(name)
                    if waits:
                        self._count(value, 1)
                if is_copy and is_traced and Py_REFCNT(<PyObject*>variables) == 2:
                    self._count(value, 1)
            else:
                self._add(value)
        item = None
        if is_copy and not is_traced:     # a tracing function's variables are set by what is there
            if Py_REFCNT(<PyObject*>variables) == 2:
                variables.clear()
            else:       # somebody called locals()
                self._add(<PyObject*>variables)
        variables = None
        if not waits:
            for name in here:
                self._take(local_of(frame, name))
        view = frame.f_builtins.get("__rebound__")
        module = frame.f_globals if view is None else view.origin
        if views_of(module):
            self._add(<PyObject*>module)
        else:
            self._scan(module)
        return 0

    cdef int _count_given(self, object frame) except -1:
        """Count the references of the tuple that a function was called with, which its caller's stack has."""
        cdef Py_ssize_t k
        names, rest = names_given(frame.f_code)
        self._count_kept(frame, names)
        variables = frame.f_locals
        given = variables.get(rest) if rest is not None else None
        if type(given) is tuple:
            for k in range(len(<tuple>given)):
                if self._wants(PyTuple_GET_ITEM(given, k)):
                    self._count(PyTuple_GET_ITEM(given, k), 1)
        empty(variables)
        return 0

    cdef int _count_kept(self, object frame, tuple names) except -1:
        """Count the references that the caller's stack has to what some variables of a function have."""
        if not names:
            return 0
        variables = frame.f_locals
        for name in names:
            value = variables.get(name)
            if self._wants(<PyObject*>value):
                self._count(<PyObject*>value, 1)
        value = None
        empty(variables)
        return 0

    cdef int _scan(self, object o) except -1:
        """Look at the values of a dict themselves."""
        if <size_t><PyObject*>o in self._seen:
            return 0
        self._seen[<size_t><PyObject*>o] = o
        found = [name for name in o if self._wants(PyDict_GetItem(o, name))]
        for name in found:
            self._take(item_of(o, name, True))
        return 0

    cdef int _visit_known(self) except -1:
        """Look at the cells of functions in which an array of the family was found before."""
        cdef Py_ssize_t k
        for k in range(len(self.members)):
            found, _ = known.functions.get(<size_t>PyList_GET_ITEM(self.members, k), (None, 0))
            function = None if found is None else found()
            if function is not None:
                self._add(<PyObject*>function.__closure__)
        function = None
        self._left = FEW
        self._look_through()
        return 0

    cdef int _remember(self, cell) except -1:
        """Note a cell that only the collector knew: when it is found again, the function that has it."""
        cdef dict cells = known.cells
        cdef size_t array = <size_t>PyCell_GET(<PyObject*>cell)
        if cells.get(array) != <size_t><PyObject*>cell:
            if len(cells) >= KNOWN:
                cells.clear()
                known.functions.clear()
            cells[array] = <size_t><PyObject*>cell
            return 0
        function, searches = known.functions.get(array, (None, 0))
        if searches == SEARCHES:      # for functions that have died, each of another comprehension at the same address
            return 0
        for closure in gc.get_referrers(cell):
            if type(closure) is tuple:
                for function in gc.get_referrers(closure):
                    if type(function) is FunctionType and function.__closure__ is closure:
                        known.functions[array] = weakref.ref(function), searches + 1
                        return 0
        return 0

    cdef int _ask_collector(self, bint in_drivers) except -1:
        """Cells of which no function is found, and other holders that Python's collector knows."""
        for part, module in parts_of_views():        # their references count for the module
            if <size_t><PyObject*>module not in self._seen:
                self._seen[<size_t><PyObject*>module] = module
                self._visit(module)
            self._seen[<size_t><PyObject*>part] = part
        others = []
        if not self._shows:
            for holder in gc.get_referrers(<object>self.wanted):
                self._wants(<PyObject*>holder)
            holder = None
        for holder in gc.get_referrers(*self.members):
            kind = type(holder)
            if kind is CellType:
                if <size_t><PyObject*>holder not in self._seen:
                    self._seen[<size_t><PyObject*>holder] = holder
                    self._visit(holder)
                    self._remember(holder)
            elif kind is GeneratorType or kind is FrameType:
                generator = holder if kind is GeneratorType else generator_of(holder)
                if generator is None:
                    continue
                if <size_t><PyObject*>generator not in self._seen:
                    self._seen[<size_t><PyObject*>generator] = generator
                    self._visit(generator)
                if in_drivers:      # Python's collector stops to track a tuple that holds nothing which it tracks
                    others += [given for part in gc.get_referents(holder) if type(part) is _TupleIterator
                               for given in gc.get_referents(part) if type(given) is tuple]
            elif not in_drivers:
                continue
            elif kind is list or kind is dict or kind is tuple:
                others.append(holder)
            elif kind is WINDOWED:
                continue
            elif not PyType_Check(holder) and kind is not FunctionType and Py_TYPE(<PyObject*>holder).tp_dictoffset:
                others.append(dict_of(holder))
        for holder in others:
            if holder is not None and self.missing() > 0 and <size_t><PyObject*>holder not in self._seen:
                self._seen[<size_t><PyObject*>holder] = holder
                self._visit(holder)
        self._waiting = []
        return 0
