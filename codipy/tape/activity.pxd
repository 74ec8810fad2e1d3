# SPDX-License-Identifier: Apache-2.0
# Which tape records on this thread, and which tape gave an epoch.
#
# The recorder in force is a thread-local pointer: recordings nest (a stack per thread) and threads never see each
# other's. Rejected: a tape pointer in every Real, which costs a GC header per number (STYLE: +60 instructions), and
# a module global, with which nested and threaded recordings fight.
# A thread-local variable of another shared library is a function call away, so every module that cimports
# `current` keeps the address of its thread's slot in a thread-local of its own.
from libc.stdint cimport int64_t
from cpython.object cimport PyObject

from codipy.tape.recorder cimport Recorder

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #define CODIPY_THREAD_LOCAL static __declspec(thread)
    #elif defined(__linux__)
    #define CODIPY_THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))
    #else
    #define CODIPY_THREAD_LOCAL static __thread
    #endif
    CODIPY_THREAD_LOCAL void **codipy_slot = 0;
    """
    void** codipy_slot

cdef void** thread_slot() noexcept

# The recorder in force on this thread; NULL where nothing records.
cdef inline Recorder* current() noexcept:
    global codipy_slot
    if codipy_slot == NULL:
        codipy_slot = thread_slot()
    return <Recorder*>codipy_slot[0]

# What Python did with warnings when the outermost recording of this thread began; NULL where there is none.
cdef inline PyObject* surroundings_of_thread() noexcept:
    global codipy_slot
    if codipy_slot == NULL:
        codipy_slot = thread_slot()
    return <PyObject*>codipy_slot[3]

cdef bint is_passive() noexcept          # inside `with codipy.passive()`
cdef int activate(object tape, Recorder* recorder) except -1
cdef int deactivate(object tape) except -1
# Call `f()` when the outermost recording of this thread is over; as long as it returns True, also when a later one begins
# and when it is over.
cdef int at_end(object f) except -1

# Epochs: (serial of the tape << 32) | generation. The tape of a serial, borrowed, or NULL when it is gone.
cdef int64_t register_tape(PyObject* tape) except -1
cdef void unregister_tape(int64_t serial) noexcept
cdef PyObject* tape_of_epoch(int64_t epoch) noexcept
