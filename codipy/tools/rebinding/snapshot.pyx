# SPDX-License-Identifier: Apache-2.0
"""What Python's collector sees in an object and in what that holds: walked through once, and compared later.

A `Snapshot` has the functions, classes and modules that something leads to, and tells later whether it still leads to
these and to no others. Numbers, texts and arrays of numbers come and go unnoticed, and so do lists and dicts of them:
they are **inert**, they lead to no function. For all else the addresses are compared that the collector is shown.

The snapshot keeps what it leads to, but not what lies on the way: an object on the way is looked at again only after
one that has it was found to have it still. One that came to stand at the address of another has the same class, and is
compared in its turn. So nothing lives longer, and no array has another reference.

Comparing takes some 5 ns for each reference and runs no Python code. Rejected: walking through all again when a
recording begins, some 200 ns for each object in Python, which so ended at 256 objects, and what was put into a larger
holder between two calls was not found.
"""
import weakref
from types import MethodType, ModuleType

from libc.stdlib cimport calloc, free
from libc.string cimport memset
from cpython.dict cimport PyDict_CheckExact, PyDict_Next
from cpython.float cimport PyFloat_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF
from cpython.unicode cimport PyUnicode_CheckExact
cimport numpy as cnp
import numpy as np

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject*, void*) noexcept
    ctypedef int (*traverseproc)(PyObject*, visitproc, void*) noexcept
    ctypedef struct TypeObject "PyTypeObject":
        PyObject* tp_dict
        PyObject* tp_mro
        traverseproc tp_traverse
        unsigned long tp_flags
    TypeObject* Py_TYPE(PyObject* o) noexcept
    bint PyObject_IS_GC(PyObject* o) noexcept
    bint PyModule_Check(object o) noexcept
    PyObject* PyCFunction_GET_SELF(PyObject* f) noexcept
    PyObject* PyWeakref_GET_OBJECT(PyObject* reference) noexcept
    const unsigned long Py_TPFLAGS_HAVE_GC, Py_TPFLAGS_HEAPTYPE
    int PyContextVar_Get(PyObject* variable, PyObject* default, PyObject** value) noexcept
    void PyErr_Clear() noexcept

cdef extern from "numpy/arrayobject.h":
    ctypedef struct Descr "PyArray_Descr":
        pass
    Descr* PyArray_DESCR(cnp.ndarray array) noexcept
    bint PyDataType_REFCHK(Descr* dtype) noexcept

cnp.import_array()

cdef PyObject* NDARRAY = <PyObject*>np.ndarray

cdef enum:
    MANY = 10_000_000            # references that are followed from one object
    NESTED = 4                   # lists of lists of data
    AWAY = 2                     # objects of libraries on the way

# What an object is by its type; a class and a module, what it is itself.
cdef enum Code:
    UNKNOWN = 0
    PLAIN                        # a number or text, for which nothing else stands in rebuilt code
    INERT                        # leads nowhere, or where nobody looks
    ARRAY                        # leads to what it holds, if that is objects
    SIZED                        # a list, tuple, dict, set or deque
    FUNCTION
    CLASS                        # of the user's
    MODULE                       # of the user's
    BUILTIN                      # a function in C, or the method in C of an object
    REFERENCE                    # a weak one
    VARIABLE                     # one of a context, of which the collector is shown no value
    OWN                          # an object of the user's, or of Python's own that leads to what it holds
    FOREIGN                      # an object of a library

CODES = {"plain": PLAIN, "inert": INERT, "array": ARRAY, "sized": SIZED, "function": FUNCTION, "class": CLASS,
         "module": MODULE, "built-in": BUILTIN, "reference": REFERENCE, "variable": VARIABLE, "own": OWN,
         "foreign": FOREIGN}


# ---- Addresses ----

cdef struct Table:
    # Codes by address; never full.
    size_t mask
    size_t used
    PyObject** keys
    int* codes


cdef int* place_in(Table* table, PyObject* key) noexcept:
    """Where the code of an address is or would be; NULL of a table that has no memory."""
    cdef size_t at
    if table.keys == NULL:
        return NULL
    at = (<size_t>key >> 4) * <size_t>0x9E3779B97F4A7C15
    at = (at >> 20) & table.mask
    while table.keys[at] != NULL and table.keys[at] != key:
        at = (at + 1) & table.mask
    return table.codes + at


cdef inline int code_in(Table* table, PyObject* key) noexcept:
    cdef int* place = place_in(table, key)
    return UNKNOWN if place == NULL or table.keys[place - table.codes] == NULL else place[0]


cdef int set_in(Table* table, PyObject* key, int code) except -1:
    cdef Table other
    cdef size_t i
    cdef int* place
    if table.keys == NULL or 3 * table.used > 2 * table.mask:
        other.mask = 63 if table.keys == NULL else 2 * table.mask + 1
        other.used = 0
        other.keys = <PyObject**>calloc(other.mask + 1, sizeof(PyObject*))
        other.codes = <int*>calloc(other.mask + 1, sizeof(int))
        if other.keys == NULL or other.codes == NULL:
            free(other.keys)
            free(other.codes)
            raise MemoryError
        for i in range(table.mask + 1 if table.keys != NULL else 0):
            if table.keys[i] != NULL:
                place = place_in(&other, table.keys[i])
                other.keys[place - other.codes] = table.keys[i]
                place[0] = table.codes[i]
                other.used += 1
        clear(table)
        table[0] = other
    place = place_in(table, key)
    if table.keys[place - table.codes] == NULL:
        table.keys[place - table.codes] = key
        table.used += 1
    place[0] = code
    return 0


cdef void unset_in(Table* table, PyObject* key) noexcept:
    cdef int* place = place_in(table, key)
    if place != NULL:
        place[0] = UNKNOWN


cdef void clear(Table* table) noexcept:
    free(table.keys)
    free(table.codes)
    memset(table, 0, sizeof(Table))


# ---- Kinds ----

cdef struct Looked:
    # What is told while a container is looked through, without any Python code.
    void* kinds
    int depth
    Py_ssize_t* left             # how many more objects are looked at
    PyObject* unknown            # something of which nothing is known yet
    bint for_plain               # whether nothing but what is plain will do
    PyObject* alone              # a set of the addresses of classes, instances of which are plain if they hold such
    bint met                     # whether any was found


cdef struct Collected:
    void* parts
    Py_ssize_t* left


cdef class Kinds:
    """Kinds(classify)
    --

    What objects are, by type: found out once for each.

    Parameters
    ----------
    classify : callable
        Takes a type and True, or a class or module and False, and gives the name of a code: what the instances of the
        type are, or what that object is.
    """
    cdef Table instances, objects
    cdef object classify
    cdef dict references         # by address: when a type dies, another one may come to stand there
    cdef object __weakref__

    def __cinit__(self, classify):
        memset(&self.instances, 0, sizeof(Table))
        memset(&self.objects, 0, sizeof(Table))
        self.classify, self.references = classify, {}

    def __dealloc__(self):
        clear(&self.instances)
        clear(&self.objects)

    def _forget(self, reference):
        cdef PyObject* key = <PyObject*><size_t>reference.key
        self.references.pop(reference.key, None)
        unset_in(&self.instances, key)
        unset_in(&self.objects, key)

    cdef int known(self, object one) except -1:
        """What an object is."""
        if self.code(<PyObject*>one) == UNKNOWN:
            self.learn(one)
        return self.code(<PyObject*>one)

    cdef int learn(self, object one) except -1:
        """Find out what an object is, and others of its type."""
        self.learn_one(&self.instances, type(one), True)
        if issubclass(type(one), (type, ModuleType)):
            self.learn_one(&self.objects, one, False)
        return 0

    cdef int learn_one(self, Table* table, object value, bint is_type) except -1:
        if code_in(table, <PyObject*>value) == UNKNOWN:
            name = self.classify(value, is_type)
            if id(value) not in self.references:
                self.references[id(value)] = weakref.KeyedRef(value, self._forget, id(value))
            set_in(table, <PyObject*>value, CODES[name])
        return 0

    cdef int code(self, PyObject* one) noexcept:
        """What an object is, as far as it is known."""
        cdef int code = code_in(&self.instances, <PyObject*>Py_TYPE(one))
        if code == CLASS or code == MODULE:
            return code_in(&self.objects, one)
        if code == BUILTIN:
            one = PyCFunction_GET_SELF(one)
            return INERT if one == NULL or PyModule_Check(<object>one) else OWN
        if code == ARRAY:
            return OWN if PyDataType_REFCHK(PyArray_DESCR(<cnp.ndarray>one)) else PLAIN
        return code

    cdef bint is_inert(self, PyObject* one, Looked* looked) noexcept:
        """Whether something leads to no function; where that is not known, `looked` says what to learn first."""
        cdef int code, found
        if PyFloat_CheckExact(<object>one):
            return True
        if not looked.for_plain and is_simple(one):
            return True
        code = self.code(one)
        if code == UNKNOWN:
            looked.unknown = one
            return False
        if code == PLAIN:
            return True
        if code == INERT:
            return not looked.for_plain
        if looked.depth == 0 or code != SIZED and not (looked.for_plain and is_alone(<PyObject*>Py_TYPE(one), looked)):
            return False
        if looked.left[0] <= 0:
            return True
        looked.depth -= 1
        looked.met = looked.met or code != SIZED
        found = visit_held(one, visit_data, looked)
        looked.depth += 1
        return found != STOPPED

    cdef int ask(self, object one, Looked* looked) except -1:
        """`is_inert`, and what is not known is learned."""
        cdef Py_ssize_t before = looked.left[0]
        while True:
            looked.unknown = NULL
            found = self.is_inert(<PyObject*>one, looked)
            if looked.unknown == NULL:
                return found
            self.learn(<object>looked.unknown)
            looked.left[0] = before

    def leads_nowhere(self, value, int depth=NESTED):
        """Whether something leads to no function, as far as types tell.

        Parameters
        ----------
        value : object
        depth : int
            How far lists in lists are looked into; 0 if what may be put there later counts.

        Returns
        -------
        bool
        """
        cdef Py_ssize_t left = MANY
        cdef Looked looked
        looked.kinds, looked.depth, looked.left, looked.for_plain = <void*>self, depth, &left, False
        return bool(self.ask(value, &looked))

    def holds_data(self, value):
        """Whether what something holds, but for its class, leads to no function.

        Parameters
        ----------
        value : object

        Returns
        -------
        bool
        """
        cdef Py_ssize_t left = MANY
        cdef Looked looked
        cdef list parts = []
        cdef Collected collected
        collected.parts, collected.left = <void*>parts, &left
        if not is_shown(value) or self.known(value) == INERT:
            return self.leads_nowhere(value)
        if traverse(<PyObject*>value, self.code(<PyObject*>value), visit_collect, &collected) == STOPPED:
            raise MemoryError
        looked.kinds, looked.depth, looked.left, looked.for_plain = <void*>self, NESTED, &left, False
        for part in parts:
            if part is not type(value) and not self.ask(part, &looked):
                return False
        return True

    def are_plain(self, values, set alone):
        """Whether rebuilt code has arguments as they are, and they lead to no function.

        Parameters
        ----------
        values : tuple
        alone : set
            The addresses of classes of which that is so of instances that hold plain values.

        Returns
        -------
        bool or None
            None where it is so because of one of these classes.
        """
        cdef Py_ssize_t left = MANY
        cdef Looked looked
        looked.kinds, looked.depth, looked.left, looked.for_plain = <void*>self, NESTED, &left, True
        looked.alone, looked.met = <PyObject*>alone, False
        for value in <tuple>values:
            if not self.ask(value, &looked):
                return False
        return None if looked.met else True


cdef enum:
    STOPPED = 1
    ENOUGH = 2


cdef inline bint is_simple(PyObject* one) noexcept:
    """Whether an object holds nothing that the collector is shown: most are numbers and texts."""
    return not Py_TYPE(one).tp_flags & Py_TPFLAGS_HAVE_GC and Py_TYPE(one) != <TypeObject*>NDARRAY


cdef bint is_alone(PyObject* kind, Looked* looked) noexcept:
    return <size_t>kind in <set>looked.alone


cdef int visit_data(PyObject* one, void* argument) noexcept:
    cdef Looked* looked = <Looked*>argument
    looked.left[0] -= 1
    if looked.left[0] < 0:
        return ENOUGH
    if (<Kinds>looked.kinds).is_inert(one, looked):
        return 0
    return 0 if looked.for_plain and is_alone(one, looked) else STOPPED      # an instance shows its class


# ---- Snapshots ----

cdef struct Addresses:
    Py_ssize_t size
    Py_ssize_t room
    PyObject** items


cdef int push(Addresses* addresses, PyObject* one) except -1:
    cdef Py_ssize_t room
    cdef PyObject** items
    if addresses.size == addresses.room:
        room = 2 * addresses.room + 8
        items = <PyObject**>PyMem_Realloc(addresses.items, room * sizeof(PyObject*))
        if items == NULL:
            raise MemoryError
        addresses.items, addresses.room = items, room
    addresses.items[addresses.size] = one
    addresses.size += 1
    return 0


cdef int visit_collect(PyObject* one, void* argument) noexcept:
    cdef Collected* collected = <Collected*>argument
    collected.left[0] -= 1
    if collected.left[0] < 0:
        return ENOUGH
    if not is_simple(one):
        try:
            (<list>collected.parts).append(<object>one)
        except MemoryError:
            return STOPPED
    return 0


cdef struct Compared:
    Looked looked
    PyObject** next
    PyObject** end


cdef int visit_compare(PyObject* one, void* argument) noexcept:
    cdef Compared* compared = <Compared*>argument
    compared.looked.left[0] -= 1
    if compared.looked.left[0] < 0:
        return ENOUGH
    if is_simple(one):
        return 0
    if compared.next != compared.end and compared.next[0] == one:
        compared.next += 1
        return 0
    return 0 if (<Kinds>compared.looked.kinds).is_inert(one, &compared.looked) else STOPPED


cdef int traverse(PyObject* node, int code, visitproc visit, void* argument) noexcept:
    """Show what something holds: an object what the collector is shown, a class its attributes and bases."""
    cdef PyObject* one
    cdef PyObject** items
    cdef Py_ssize_t i
    cdef int found
    if code == CLASS:
        one = (<TypeObject*>node).tp_dict
        found = visit((<TypeObject*>node).tp_mro, argument)
        return found if found else visit_held(one, visit, argument)
    if code == REFERENCE:
        return visit(PyWeakref_GET_OBJECT(node), argument)
    if code == VARIABLE:
        return visit_value(node, visit, argument)
    if Py_TYPE(node) == <TypeObject*>NDARRAY:
        items = <PyObject**>cnp.PyArray_DATA(<cnp.ndarray>node)
        for i in range(cnp.PyArray_SIZE(<cnp.ndarray>node)):
            found = visit(items[i], argument) if items[i] != NULL else 0
            if found:
                return found
        return 0
    return visit_held(node, visit, argument)


cdef int visit_held(PyObject* node, visitproc visit, void* argument) noexcept:
    """Show what the collector is shown; of dicts what they hold, which from 3.13 on an instance may show in their place."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t place = 0
    cdef int found
    if not PyDict_CheckExact(<object>node):
        return Py_TYPE(node).tp_traverse(node, visit, argument) if PyObject_IS_GC(node) else 0
    while PyDict_Next(<object>node, &place, &key, &value):
        found = 0 if PyUnicode_CheckExact(<object>key) else visit(key, argument)
        found = found if found else visit(value, argument)
        if found:
            return found
    return 0


cdef int visit_value(PyObject* variable, visitproc visit, void* argument) noexcept:
    cdef PyObject* value = NULL
    cdef int found = 0
    if PyContextVar_Get(variable, NULL, &value) == 0 and value != NULL:
        found = visit(value, argument)
        Py_DECREF(<object>value)     # who set it has it still
    else:
        PyErr_Clear()
    return found


cdef bint is_shown(object value) except -1:
    """Whether the collector, or the memory of an array, shows what something holds."""
    return type(value) is not np.ndarray or value.dtype == object and value.flags.c_contiguous


cdef class Snapshot:
    """Snapshot(kinds, root, covered=())
    --

    Parameters
    ----------
    kinds : Kinds
    root : object
        The caller keeps it as long as the snapshot.
    covered : iterable
        What the root holds that is not looked into there.

    Attributes
    ----------
    functions, classes, modules : list
        What it leads to.
    foreign : set of type
        The classes of libraries of which something lies on the way.
    methods : list
        The bound methods that lie on the way; who asks for them takes them out.
    """
    cdef Kinds kinds
    cdef readonly list functions, classes, modules, methods
    cdef readonly set foreign
    cdef list kept               # the types of what lies on the way, and what ends it
    cdef Addresses nodes, types, codes, edges, ends      # `ends`: how many edges there are up to those of a node
    cdef bint can_compare

    def __cinit__(self, Kinds kinds, root, covered=()):
        memset(&self.nodes, 0, sizeof(Addresses))
        memset(&self.types, 0, sizeof(Addresses))
        memset(&self.codes, 0, sizeof(Addresses))
        memset(&self.edges, 0, sizeof(Addresses))
        memset(&self.ends, 0, sizeof(Addresses))
        self.kinds, self.can_compare = kinds, True
        self.functions, self.classes, self.modules, self.kept, self.foreign = [], [], [], [], set()
        self.methods = []
        self.walk(root, covered)

    def __dealloc__(self):
        PyMem_Free(self.nodes.items)
        PyMem_Free(self.types.items)
        PyMem_Free(self.codes.items)
        PyMem_Free(self.edges.items)
        PyMem_Free(self.ends.items)

    cdef int walk(self, object root, object covered) except -1:
        cdef Table seen, hidden
        cdef Py_ssize_t left = MANY, before, i = 0
        cdef Looked looked
        cdef list waiting = [root], away = [self.kinds.known(root) == FOREIGN]        # strong references until all has been looked at
        memset(&seen, 0, sizeof(Table))
        memset(&hidden, 0, sizeof(Table))
        looked.kinds, looked.depth, looked.left, looked.for_plain = <void*>self.kinds, NESTED, &left, False
        try:
            set_in(&seen, <PyObject*>root, PLAIN)
            self.kept.extend(covered)
            for one in self.kept:
                set_in(&hidden, <PyObject*>one, PLAIN)
            while i < len(waiting) and left > 0:
                parts = self.parts_of(waiting[i], &left)
                for part in parts:
                    before = left
                    if not self.kinds.ask(part, &looked):
                        left = before        # it is looked at for itself
                        push(&self.edges, <PyObject*>part)
                        is_covered = i == 0 and code_in(&hidden, <PyObject*>part) != UNKNOWN
                        if not is_covered and code_in(&seen, <PyObject*>part) == UNKNOWN:
                            set_in(&seen, <PyObject*>part, PLAIN)
                            self.meet(part, waiting, away, i)
                push(&self.ends, <PyObject*><size_t>self.edges.size)
                i += 1
        finally:
            clear(&seen)
            clear(&hidden)
        return 0

    cdef list parts_of(self, object node, Py_ssize_t* left):
        """Note an object, and give what it holds."""
        cdef list parts = []
        cdef Collected collected
        cdef int code
        code = self.kinds.known(node)
        if code == FOREIGN:
            self.foreign.add(type(node))
        if is_shown(node):
            collected.parts, collected.left = <void*>parts, left
            if traverse(<PyObject*>node, code, visit_collect, &collected) == STOPPED:
                raise MemoryError
        else:
            self.can_compare, parts = False, node.ravel().tolist()
        push(&self.nodes, <PyObject*>node)
        push(&self.types, <PyObject*>Py_TYPE(<PyObject*>node))
        push(&self.codes, <PyObject*><size_t>code)
        if Py_TYPE(<PyObject*>node).tp_flags & Py_TPFLAGS_HEAPTYPE:
            self.kept.append(type(node))
        return parts

    cdef int meet(self, object part, list waiting, list away, Py_ssize_t i) except -1:
        """Look into a part later, or keep it."""
        cdef int code = self.kinds.code(<PyObject*>part)
        cdef int far = away[i] + (code == FOREIGN)
        if code == FUNCTION:
            self.functions.append(part)
        elif code == CLASS:
            self.classes.append(part)
        elif code == MODULE:
            self.modules.append(part)
        elif far <= AWAY:
            if type(part) is MethodType:
                self.methods.append(part)
            waiting.append(part)
            away.append(far)
        else:
            self.kept.append(part)
        return 0

    cpdef bint is_current(self):
        """Whether it leads to the same functions, classes and modules, and to no others."""
        cdef Py_ssize_t i, left = MANY
        cdef Compared compared
        cdef PyObject* node
        cdef int found
        if not self.can_compare:
            return False
        compared.looked.kinds, compared.looked.depth = <void*>self.kinds, NESTED
        compared.looked.left, compared.looked.for_plain = &left, False
        compared.next = self.edges.items
        for i in range(self.nodes.size):
            node = self.nodes.items[i]
            if <PyObject*>Py_TYPE(node) != self.types.items[i]:
                return False
            if <size_t>self.kinds.code(node) != <size_t>self.codes.items[i]:
                return False
            compared.end = self.edges.items + <size_t>self.ends.items[i]
            found = traverse(node, <int><size_t>self.codes.items[i], visit_compare, &compared)
            if found == STOPPED:
                return False
            if found == ENOUGH:
                return True
            if compared.next != compared.end:
                return False
        return True
