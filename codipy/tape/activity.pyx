# SPDX-License-Identifier: Apache-2.0
"""The thread's stack of recording tapes, and the register that finds the tape of an epoch."""
import threading

from libc.stdint cimport int64_t
from libc.string cimport memmove
from cpython.mem cimport PyMem_Realloc
from cpython.object cimport PyObject

from codipy.tape.recorder cimport Recorder
from codipy.tape.surroundings cimport Surroundings, surroundings

from codipy.errors import TapeError
from codipy.tape.signatures import Signature

cdef extern from *:
    """
    /* recorder in force; inside passive(); _Stack; its Surroundings; whether rebound code was entered */
    CODIPY_THREAD_LOCAL void *codipy_thread_state[5] = {0, 0, 0, 0, 0};
    """
    void** codipy_thread_state


cdef void** thread_slot() noexcept:
    return codipy_thread_state


cdef bint is_passive() noexcept:
    return codipy_thread_state[1] != NULL


cdef class _Stack:
    # The strong references that keep recording tapes alive: (tape, address of its recorder). (None, 0) stands for
    # `with codipy.passive()`. They die with the thread, or with Python's view of one that C made; what else dies on it
    # later, and the next Python code on it, must not find the recorder in force then.
    cdef list entries, after             # what is called when the outermost is over
    cdef Py_ssize_t depth                # how many entries there are; behind them is None
    cdef void** state
    cdef Surroundings surroundings       # of the outermost

    def __cinit__(self):
        self.entries, self.after, self.state = [], [], codipy_thread_state

    def __dealloc__(self):
        if self.state == codipy_thread_state:
            codipy_thread_state[0] = codipy_thread_state[1] = codipy_thread_state[2] = NULL
            codipy_thread_state[3] = codipy_thread_state[4] = NULL


class _Recordings(threading.local):
    def __init__(self):
        self.stack = _Stack()


_recordings = _Recordings()


cdef _Stack stack_of_thread():
    """This thread's; a look-up in a threading.local took longer than all else that begins a recording."""
    if codipy_thread_state[2] == NULL:
        codipy_thread_state[2] = <PyObject*>_recordings.stack
    return <_Stack>codipy_thread_state[2]


cdef int _enter(object tape, Recorder* recorder) except -1:
    cdef _Stack stack = stack_of_thread()
    if stack.depth == 0:
        _call_after(stack)
        stack.surroundings = surroundings()
        codipy_thread_state[3] = <PyObject*>stack.surroundings
    if stack.depth == len(stack.entries):
        stack.entries.append(None)
    stack.entries[stack.depth] = tape, <size_t>recorder
    stack.depth += 1
    codipy_thread_state[0] = recorder
    codipy_thread_state[1] = <void*>(<size_t>(tape is None))
    return 0


cdef int _leave(object tape) except -1:
    """Take the last entry of `tape`, which for passive() need not be the innermost: a generator may end it late.

    That needs no memory, which a list may need to become shorter: a recording that could not end would be one for ever.
    """
    cdef _Stack own = stack_of_thread()
    cdef list stack = own.entries
    cdef Py_ssize_t i = own.depth - 1
    while i >= 0 and stack[i][0] is not tape:
        i -= 1
    if i < 0:
        raise TapeError("passive() ends on a thread where it did not begin")
    own.depth -= 1
    for i in range(i, own.depth):
        stack[i] = stack[i + 1]
    stack[own.depth] = None
    tape, address = stack[own.depth - 1] if own.depth else (None, 0)
    if own.depth == 0:
        codipy_thread_state[3] = codipy_thread_state[4] = NULL
    codipy_thread_state[0] = <void*><size_t>address
    codipy_thread_state[1] = <void*>(<size_t>(own.depth > 0 and tape is None))
    if own.depth == 0:
        _call_after(own)
    return 0


cdef int _call_after(_Stack stack) except -1:
    cdef list kept = []
    cdef list errors = []
    if not stack.after:
        return 0
    while stack.after:      # all of them, whatever one raises, and what they add
        f = stack.after.pop(0)
        try:
            if f():
                kept.append(f)
        except BaseException as error:
            errors.append(error)
    stack.after = kept
    if errors:
        raise errors[0]
    return 0


cdef int at_end(object f) except -1:
    cdef list after = stack_of_thread().after
    if f not in after:
        after.append(f)
    return 0


def call_at_end(f):
    """Call something when the outermost recording of this thread is over, once.

    Parameters
    ----------
    f : callable
        Takes nothing; returns whether it is to be called at the end of the next one as well.
    """
    at_end(f)


cdef int activate(object tape, Recorder* recorder) except -1:
    _enter(tape, recorder)
    return 0


cdef int deactivate(object tape) except -1:
    """End the innermost recording, which must be that of `tape`."""
    if codipy_thread_state[0] == NULL or (<Recorder*>codipy_thread_state[0]).tape != <PyObject*>tape:
        raise TapeError("set_passive() on a tape that is not the innermost recording of this thread: "
                        "end the recordings in the reverse order of their beginning")
    _leave(tape)
    return 0


def active_tape():
    """The tape that records on this thread, or None.

    Returns
    -------
    Tape or None
        The innermost one; None inside of ``with codipy.passive():``.

    Examples
    --------
    >>> import codipy
    >>> with codipy.Tape() as tape:
    ...     codipy.active_tape() is tape
    True
    >>> codipy.active_tape() is None
    True
    """
    if codipy_thread_state[0] == NULL:
        return None
    return <object>(<Recorder*>codipy_thread_state[0]).tape


def depth():
    """How many recordings of this thread enclose what runs, and so how often it may be differentiated.

    Returns
    -------
    int
        0 where nothing records, and inside ``codipy.passive()``, as long as no recording begins there: those around it
        do not count. One that is swept for second derivatives counts for two.
    """
    if codipy_thread_state[0] == NULL:
        return 0
    cdef _Stack stack = stack_of_thread()
    cdef Py_ssize_t i = stack.depth - 1
    cdef dict tapes = {}
    while i >= 0 and stack.entries[i][0] is not None:
        tape = stack.entries[i][0]
        tapes[id(tape)] = 2 if tape.twice else 1
        i -= 1
    return sum(tapes.values())


def is_suspended():
    """Whether ``passive()`` holds up a recording of this thread.

    Returns
    -------
    bool
        False where one records, be it inside of ``passive()``.
    """
    if codipy_thread_state[1] == NULL:
        return False
    cdef _Stack stack = stack_of_thread()
    return any([tape is not None for tape, _ in stack.entries[:stack.depth]])


cdef class passive:
    """passive()
    --

    A context in which nothing is recorded and active values may leave as plain ones.

    Results are passive and ``float(x)`` gives the value: the derivative of what is computed inside is dropped
    on purpose.

    Raises
    ------
    TapeError
        If it ends on another thread than it began on.

    Examples
    --------
    >>> import codipy
    >>> with codipy.Tape() as tape:
    ...     x = tape.register_input(codipy.Real(2.0))
    ...     with codipy.passive():
    ...         y = float(x * 3.0)
    >>> y
    6.0
    """
    __signature__ = Signature()
    def __enter__(self):
        _enter(None, NULL)
        return self

    def __exit__(self, *exception):
        _leave(None)
        return False


# ---- The register: serials ascend, so the entries are sorted and a look-up is a binary search. ----

cdef struct Registered:
    int64_t serial
    PyObject* tape

cdef Registered* registered = NULL
cdef Py_ssize_t registered_count = 0, registered_size = 0
cdef int64_t last_serial = 0


cdef int64_t register_tape(PyObject* tape) except -1:
    global registered, registered_count, registered_size, last_serial
    cdef Registered* larger
    if registered_count == registered_size:
        larger = <Registered*>PyMem_Realloc(registered, (2 * registered_size + 8) * sizeof(Registered))
        if larger == NULL:
            raise MemoryError("no memory to register a tape")
        registered, registered_size = larger, 2 * registered_size + 8
    last_serial += 1
    registered[registered_count].serial = last_serial
    registered[registered_count].tape = tape
    registered_count += 1
    return last_serial


cdef inline Py_ssize_t _find(int64_t serial) noexcept:
    cdef Py_ssize_t low = 0, high = registered_count, middle
    while low < high:
        middle = (low + high) // 2
        if registered[middle].serial < serial:
            low = middle + 1
        else:
            high = middle
    return low if low < registered_count and registered[low].serial == serial else -1


cdef void unregister_tape(int64_t serial) noexcept:
    global registered_count
    cdef Py_ssize_t i = _find(serial)
    if i >= 0:
        registered_count -= 1
        memmove(registered + i, registered + i + 1, (registered_count - i) * sizeof(Registered))


cdef PyObject* tape_of_epoch(int64_t epoch) noexcept:
    cdef Py_ssize_t i = _find(epoch >> 32)
    return registered[i].tape if i >= 0 else NULL
