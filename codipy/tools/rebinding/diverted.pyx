# SPDX-License-Identifier: Apache-2.0
"""Functions that rebuilt code finds as they are, and that lead to their rebuilt ones while a recording runs.

A method of an object that cannot be seen through a twin, or a function in a set, is called by whoever has it: by rebuilt
code, by an operator, by the interpreter, by C. So the function object itself leads on: while a recording runs its
``__code__`` is a **trampoline**, which has the parameters of the original and calls, on a thread whose recording asked
for it, the rebuilt function, on any other thread a function with the original code. When the outermost recording of
the thread is over, the function has its own code again, unless somebody has given it another one meanwhile.

A constant of a code object may be any object. The trampoline's is its `Diversion`, so that it needs no global name.

Rejected: descriptors on the class that give this thread the rebuilt member while a recording runs, since bound methods
that were made before, functions in sets and whatever C has looked up go past them; a hook of the syntax tree at each
call of a method, which costs all calls of all programs; ``__class__`` that says `float` in all frames, which mends
`isinstance` alone, and not ``type(v) is float`` or `math.sin`.
"""
import functools
import os
import threading
import weakref
from types import FunctionType

from cpython.object cimport PyObject

from codipy.tape.activity cimport at_end, surroundings_of_thread

from codipy.tools.rebinding.code import is_generator

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() noexcept
    bint PyFunction_Check(object f) noexcept
    PyObject* PyFunction_GetCode(object f) noexcept

cdef str PLACE = "codipy: the diversion"
cdef dict diversions = {}        # of the functions that have a trampoline, by their addresses


cdef class _InForce:
    """The diversions of one thread, until its recording is over or the thread is."""
    cdef list diversions
    cdef set begun               # what has begun to divert, which then does so whenever it meets something
    cdef dict pending            # what is to begin with the next recording, by its address
    cdef bint is_called          # when the recording is over
    cdef unsigned long thread
    cdef object __weakref__

    def __cinit__(self):
        self.diversions, self.begun, self.pending, self.is_called = [], set(), {}, False
        self.thread = PyThread_get_thread_ident()

    def __call__(self):
        """What is called when a recording is over, and, if something was put off until then, before one begins."""
        if not self.pending:
            self.end()
            return False
        pending, self.pending, self.is_called = self.pending, {}, True
        for opaque in pending.values():
            self.begin(opaque)
        return True

    def __dealloc__(self):
        if self.diversions:
            self.end()

    cdef int call_at_end(self) except -1:
        if not self.is_called:
            at_end(self)
            self.is_called = True
        return 0

    cdef int begin(self, opaque) except -1:
        self.begun.add(opaque)
        opaque.threads[self.thread] = weakref.ref(self)
        opaque.divert_all()
        return 0

    cdef int end(self) except -1:
        cdef Diversion diversion
        cdef list errors = []
        self.is_called = False
        while self.begun:
            self.begun.pop().threads.pop(self.thread, None)
        while self.diversions:
            diversion = self.diversions.pop()
            try:
                diversion.leave(self.thread)
            except BaseException as error:       # of an audit hook
                errors.append(error)
        if errors:
            raise errors[0]
        return 0


cdef class Diversion:
    """Diversion(f)
    --

    A function and where it leads to, by thread.
    """
    cdef object f, code, trampoline, plain
    cdef dict ways               # by the thread's number: the rebuilt function, and what translates a default argument

    def __init__(self, f):
        self.f, self.ways = f, {}
        self.lay()

    cdef int lay(self) except -1:
        """Make the trampoline for the code that the function has."""
        f = self.f
        self.code = f.__code__
        self.plain = FunctionType(self.code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        self.plain.__kwdefaults__, self.plain.__qualname__ = f.__kwdefaults__, f.__qualname__
        self.trampoline = trampoline_of(f, self)
        return 0

    def target(self):
        """What the trampoline calls."""
        way = self.ways.get(PyThread_get_thread_ident())
        return self.plain if way is None else (<tuple>way)[0]

    def given(self, value):
        """An argument: what the function has as a default is seen by rebuilt code as all it has is."""
        way = self.ways.get(PyThread_get_thread_ident())
        if way is None:
            return value
        for default in (*(self.f.__defaults__ or ()), *(self.f.__kwdefaults__ or {}).values()):
            if default is value:
                return (<tuple>way)[1](value)
        return value

    cdef int lead(self, _InForce in_force, tuple way) except -1:
        """Lead a thread there."""
        if in_force.thread not in self.ways:
            in_force.diversions.append(self)
        self.ways[in_force.thread] = way
        return 0

    cdef int leave(self, unsigned long thread) except -1:
        """Lead a thread there no more; the last one leaves the function as it was."""
        self.ways.pop(thread, None)
        if self.ways:
            return 0
        if PyFunction_GetCode(self.f) == <PyObject*>self.trampoline:
            self.f.__code__ = self.code
        if diversions.get(<size_t><PyObject*>self.f) is self:
            del diversions[<size_t><PyObject*>self.f]
        self.trampoline = None       # code is nothing that Python's collector takes out of a circle
        return 0


class _Thread(threading.local):
    def __init__(self):
        self.in_force = _InForce()


cdef object thread = _Thread()


def is_new_here(opaque):
    """Whether something has yet to divert functions in the outermost recording of this thread.

    Parameters
    ----------
    opaque : Opaque
        What it meets while that runs it diverts by itself.

    Returns
    -------
    bool
    """
    return opaque not in (<_InForce>thread.in_force).begun


def in_force():
    """What diverts functions in the outermost recording of this thread.

    Returns
    -------
    tuple of Opaque
    """
    return tuple((<_InForce>thread.in_force).begun)


def resume(opaques):
    """Let the same divert functions in another recording, where a sweep calls what the first one has called.

    Parameters
    ----------
    opaques : tuple of Opaque
        What `in_force` gave.
    """
    for opaque in opaques:
        if is_new_here(opaque):
            begin(opaque)


def is_recorded():
    """Whether a recording runs on this thread."""
    return surroundings_of_thread() != NULL


def begin(opaque):
    """Call ``opaque.divert_all()`` now where a recording runs on this thread, else when the next one begins.

    Parameters
    ----------
    opaque : Opaque
    """
    cdef _InForce in_force = thread.in_force
    if surroundings_of_thread() == NULL:
        in_force.pending[id(opaque)] = opaque
        at_end(in_force)
        return
    in_force.call_at_end()
    in_force.begin(opaque)


def divert(opaque, f, rebuilt):
    """Let a function lead to its rebuilt one until the outermost recording is over, on this thread and those that began.

    Parameters
    ----------
    opaque : Opaque
        Who asks: its ``translate`` gives of a default argument of `f` what rebuilt code has in its place.
    f : function
        Of the user's.
    rebuilt : callable
        What is called in its place.
    """
    cdef Diversion diversion
    cdef _InForce in_force = thread.in_force
    in_force.call_at_end()
    way, others = (rebuilt, opaque.translate), list(opaque.threads.values())     # at once: others come and go
    diversion = diversions.get(<size_t><PyObject*>f)
    if diversion is None:        # while it is made another thread may make one
        diversion = diversions.setdefault(<size_t><PyObject*>f, Diversion(f))
    elif PyFunction_GetCode(f) != <PyObject*>diversion.trampoline:       # somebody has given it another one
        diversion.lay()
        diversion = diversions.setdefault(<size_t><PyObject*>f, diversion)
    diversion.lead(in_force, way)
    for reference in others:     # rebuilt code of another thread may come upon what this one has found
        other = reference()
        if other is not None:
            diversion.lead(other, way)
    if diversion.trampoline is None:
        diversion.lay()
    if PyFunction_GetCode(f) != <PyObject*>diversion.trampoline:
        f.__code__ = diversion.trampoline


def code_of(f):
    """The code of a function as its author wrote it, whether or not it is diverted; None of what has none.

    Parameters
    ----------
    f : object

    Returns
    -------
    code or None
    """
    cdef Diversion diversion
    if not PyFunction_Check(f):
        return getattr(f, "__code__", None)
    if diversions:
        diversion = diversions.get(<size_t><PyObject*>f)
        if diversion is not None and PyFunction_GetCode(f) == <PyObject*>diversion.trampoline:
            return diversion.code
    return <object>PyFunction_GetCode(f)


def way_of(f):
    """The function that one leads to on this thread, which is that itself where it is not diverted.

    Parameters
    ----------
    f : object

    Returns
    -------
    object
    """
    cdef Diversion diversion = diversions.get(<size_t><PyObject*>f)
    return f if diversion is None else diversion.target()


cdef object trampoline_of(object f, Diversion diversion):
    """A code object with the parameters of a function, that calls ``diversion.target()`` with them."""
    code = f.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    names = code.co_varnames[:count]
    by_position = f.__defaults__ or ()
    looked_at = frozenset((*(names[code.co_argcount - len(by_position):code.co_argcount] if by_position else ()),
                           *(f.__kwdefaults__ or ())))
    template = _template(names, code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount, code.co_flags & 12,
                         is_generator(code), looked_at, code.co_freevars)  # fmt: skip
    constants = tuple([diversion if value == PLACE else value for value in template.co_consts])
    changed = {"co_qualname": code.co_qualname} if hasattr(code, "co_qualname") else {}
    return template.replace(co_consts=constants, co_name=code.co_name, co_filename=code.co_filename,
                            co_firstlineno=code.co_firstlineno, co_freevars=code.co_freevars, **changed)  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _template(names, by_position_only, by_position, by_name, flags, yields, looked_at, free):
    """The code of a trampoline, with a text in the place of the diversion."""
    parts, call, rest = [], [], list(names[by_position + by_name:])
    passed = {name: f"{PLACE!r}.given({name})" if name in looked_at else name for name in names}
    for place, name in enumerate(names[:by_position]):
        parts += ["/"] if 0 < by_position_only == place else []
        parts.append(name)
        call.append(passed[name])
    parts += ["/"] if 0 < by_position_only == by_position else []
    if flags & 4:
        name = rest.pop(0)
        parts.append(f"*{name}")
        call.append(f"*{name}")
    elif by_name:
        parts.append("*")
    for name in names[by_position:by_position + by_name]:
        parts.append(name)
        call.append(f"{name}={passed[name]}")
    if flags & 8:
        parts.append(f"**{rest[0]}")
        call.append(f"**{rest[0]}")
    # The interpreter wants as many free variables as the closure has, and their cells in the frame.
    own = [f"free{place}" for place in range(len(free))]
    while not set(own).isdisjoint(names):
        own = [f"_{name}" for name in own]
    called = f"{PLACE!r}.target()({', '.join(call)})"
    text = f"def outer({', '.join(own)}):\n def trampoline({', '.join(parts)}): "
    text += f"return (yield from {called})" if yields else f"return {called}"
    text += "".join([f"; {name}" for name in own])
    outer = compile(text, "<codipy>", "exec", dont_inherit=True).co_consts[0]
    return next(value for value in outer.co_consts if hasattr(value, "co_code"))


def _after_fork():
    """The other threads are gone, and so are their recordings."""
    cdef Diversion diversion
    cdef unsigned long own = PyThread_get_thread_ident()
    for diversion in list(diversions.values()):
        for number in list(diversion.ways):
            if number != own:
                diversion.leave(number)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
