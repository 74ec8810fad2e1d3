# SPDX-License-Identifier: Apache-2.0
"""The idle tapes of a thread, kept with their memory for the next call of a driver."""
from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject

from codipy.active.tape cimport Tape
from codipy.tape.activity cimport current, surroundings_of_thread
from codipy.tape.provenance.watching cimport watcher

from codipy.data.pool import clear_pool
from codipy.tape.activity import is_suspended
from codipy.tools.swallowed import forget, raised, watch

cdef extern from "Python.h":
    PyObject* PyThreadState_GetDict() noexcept

cdef extern from *:
    """
    CODIPY_THREAD_LOCAL void *codipy_waits_for = 0, *codipy_leaves = 0;
    """
    void* codipy_waits_for       # the tape of the outermost driver, while it runs what `rebind` returned ...
    void* codipy_leaves          # ... and the list of what it differentiates by

cdef list errors = raised
cdef object VECTORS = "adjoints"     # in the place of settings: the adjoint vectors of one tape, one for each width
cdef Py_ssize_t KEPT = 16 << 20      # bytes that one may have
cdef Py_ssize_t MOST = 2             # of them: a sparse Jacobian sweeps in all directions, and in one to check them
cdef object KEY = object()       # of our entry in the dict that Python keeps for each thread until it ends


cdef dict idle():
    """Settings -> the tapes that no driver of this thread is using.

    A nested driver finds the tape of the outer one missing and takes, or makes, another. Rejected: threading.local, the
    same at the price of two attribute look-ups, a tenth of a small gradient.
    """
    cdef dict state = <dict>PyThreadState_GetDict()
    cdef PyObject* found = PyDict_GetItem(state, KEY)
    if found == NULL:
        state[KEY] = {}
        return state[KEY]
    return <dict>found


cpdef Tape borrow(tuple settings):
    """An empty, passive tape that nobody else uses; `settings` is (strategy, granularity), for 'forward' with the width.

    Inside of ``passive()`` variables of the recordings that it holds up are lent to it. Nothing that is computed there
    has a derivative by them, so nothing is computed again: to the driver they are constants.
    """
    cdef Tape tape = idle_or_new(settings)
    if surroundings_of_thread() != NULL and is_suspended():
        tape.loans = []
    return tape


cdef Tape idle_or_new(tuple settings):
    global codipy_waits_for
    cdef list tapes
    cdef Tape tape
    if surroundings_of_thread() == NULL:
        codipy_waits_for = NULL
    if watcher is not None:
        return watch(Tape(*settings[:2], width=settings[2] if len(settings) > 2 else None))
    try:
        tapes = idle().get(settings)
    except TypeError:      # not hashable, so no settings: Tape says what is wrong with them
        tapes = None
    if tapes:
        return tapes.pop()
    tape = Tape(*settings[:2], width=settings[2] if len(settings) > 2 else None)
    tape.registers = False       # the driver knows its inputs and outputs
    return watch(tape)


cpdef int wait_for_rebound(Tape tape, list leaves) except -1:
    """Note that what a driver runs on a tape is rebuilt: if it is the outermost, all that runs below it waits for that.

    `leaves` is what it differentiates by, a list that the driver keeps until the function has returned.
    """
    global codipy_waits_for, codipy_leaves
    if surroundings_of_thread() == NULL:
        codipy_waits_for, codipy_leaves = <void*>tape, <void*>leaves
    return 0


cdef bint waits_for_rebound() noexcept:
    """Whether all functions that run below the driver wait for rebuilt code: no other recording runs on this thread."""
    return current() != NULL and <void*>current().tape == codipy_waits_for


cdef list differentiated_by():
    """What the driver differentiates by for which `waits_for_rebound` is true."""
    return <list>codipy_leaves


def check_settings(tuple settings, bint forward=False):
    """Raise for settings that no tape can have, so that a driver fails when it is made and not when it is called.

    `forward`: whether the driver does with a tape that keeps nothing.
    """
    if not forward and type(settings[0]) is str and settings[0] == "forward":
        raise ValueError("strategy='forward' keeps nothing to sweep over: it is for jvp, hvp and jacobian(f, mode='forward')")
    try:
        known = settings in idle()
    except TypeError:
        known = False
    if not known:
        give_back(settings, borrow(settings))


cpdef int give_back(tuple settings, Tape tape) except -1:
    """End a loan: drop the recording, keep the memory."""
    cdef dict tapes
    tape.loans = None
    if errors:
        forget(tape)
    if tape.recordings or tape.watched:      # a function left a recording of its own open above this one: see tape.set_passive()
        return 0
    tape.reset()
    tapes = idle()
    if settings in tapes:
        (<list>tapes[settings]).append(tape)
    else:
        tapes[settings] = [tape]
    return 0


def borrow_vector(Tape tape not None, width):
    """An adjoint vector of a tape, all zero: one that was given back, or a new one."""
    vector = idle().get(VECTORS, {}).pop(width, None)
    if vector is None or vector.tape is not tape:
        return tape.new_adjoints(width)
    vector.clear()
    return vector


def give_back_vector(adjoints):
    """Keep its memory for the next call: that of large vectors comes from the system page by page."""
    if adjoints.bytes_allocated > KEPT:
        return
    kept = {width: vector for width, vector in idle().get(VECTORS, {}).items() if vector.tape is adjoints.tape}
    if len(kept) == MOST:
        del kept[next(iter(kept))]
    idle()[VECTORS] = kept | {adjoints.width: adjoints}


def clear_tapes():
    """Free the memory that the drivers keep for their next call on this thread, and give it back to the system.

    Returns
    -------
    None

    Examples
    --------
    >>> import codipy
    >>> codipy.grad(lambda x: x * x)(3.0)
    6.0
    >>> codipy.clear_tapes()
    """
    from codipy.numpy.rules import factors       # here: a small script imports no rules
    idle().clear()
    factors.forget()
    clear_pool()
