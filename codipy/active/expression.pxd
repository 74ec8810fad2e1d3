# SPDX-License-Identifier: Apache-2.0
# Pending expressions: how an operation on Reals becomes a new Real, and when a statement is pushed.
#
# An operation merges its operands' pending expressions into the result's. With the Jacobian strategies the entries
# are (Jacobian, identifier) and a merge scales them; with the value strategies they are (primal, identifier) and the
# shape is an interned program. An operand that is used again, or whose entries do not fit, is pushed first.
#
# Merging copies: the operand keeps its expression. Rejected: taking over the memory of a temporary operand (one
# birth less), because what looks temporary may be held by NumPy's object loops, and a wrong hint would then be a
# wrong derivative instead of a slower one.
from libc.stdint cimport int32_t, uint8_t
from cpython.object cimport PyObject, PyTypeObject

from codipy.active.real cimport MERGED, OWNS, Real
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.operations.kernels cimport op_partials
from codipy.programs.program cimport ARGUMENT, CONSTANT, MAX_LEAVES, intern_program
from codipy.tape.activity cimport current
from codipy.tape.recorder cimport Entry, Recorder, JACOBIAN

cdef extern from "codipy/active/object.h":
    PyObject* codipy_birth(PyTypeObject* type, size_t entry, int size) except NULL
    void codipy_death(PyObject* o, int size) noexcept
    int codipy_clear_free_lists() noexcept
    bint codipy_is_temporary(PyObject* o) noexcept
    object codipy_new_reference(PyObject* o)

cdef enum:
    FEW_ENTRIES = 4              # of size class 1; size class 2 holds MAX_LEAVES


# Slow paths, in expression.pyx.
# Push the pending expression of x. identify_new: of a result just made, which dies if that fails.
cdef int identify(Recorder* r, Real x) except -1
cdef int identify_new(Recorder* r, PyObject* x) except -1
# Whether x takes part in the recording r (NULL: none): 1 yes, 0 as a passive value (inside passive()); else an error.
cdef int readmit(Recorder* r, Real x) except -1
# Give back what x holds on its tape.
cdef void make_passive(Real x) noexcept
cdef void release_uses(Real x) noexcept
# Python's own callable for each row of the table, or None.
cdef object callable_of(int code)
# The value of an operation by Python's own callable: its exceptions, infinities and NaN, and rows without a C twin.
cdef int python_value(int code, int n, const double* u, double* value) except -1
# 1: `number` is the value of o, which is no Real; 0: o is no real number.
cdef int as_number(PyObject* o, double* number) except -1


cdef inline PyObject* new_real(double value, int size) except NULL:
    """A passive Real of a size class; a new reference."""
    cdef PyObject* x = codipy_birth(<PyTypeObject*>Real, sizeof(Entry), size)
    (<Real>x).primal = value
    (<Real>x).epoch = 0
    (<Real>x).made = 0
    (<Real>x).identifier = 0
    (<Real>x).count = 0
    (<Real>x).kept = 0
    (<Real>x).size = <uint8_t>size
    (<Real>x).flags = 0
    return x


cdef inline void release_here(Recorder* r, Real x) noexcept:
    """A reuse manager no longer counts x, whose epoch is the recorder's."""
    cdef Entry* entries = x.own
    cdef int i
    if x.identifier:
        (<ReuseIdentifiers>r.reusing).release(x.identifier)
    for i in range(x.count + x.kept):
        if entries[i].identifier:
            (<ReuseIdentifiers>r.reusing).release(entries[i].identifier)


cdef inline double scaled(double partial, double jacobian) noexcept:
    """partial * jacobian, where zero times anything is zero."""
    cdef double product = partial * jacobian
    if product != product and (partial == 0.0 or jacobian == 0.0):
        return 0.0
    return product


cdef inline PyObject* combine(int code, int n, PyObject** operands, const double* u, double value) except NULL:
    """The Real of one operation; inlined with `code` and `n` known, so that only its own partials remain.

    operands[k] is a Real with an epoch, or NULL for a passive argument of value u[k].
    """
    cdef Recorder* r = current()
    cdef PyObject* x
    cdef PyObject* result
    cdef Entry* entries
    cdef Entry* source
    cdef double partials[3]
    cdef int32_t parts[3]
    cdef int32_t program = 0
    parts[0] = parts[1] = parts[2] = 0
    cdef int k, j, total = 0, active = 0
    for k in range(n):
        x = operands[k]
        if x == NULL:
            continue
        if r == NULL or (<Real>x).epoch != r.epoch:
            if not readmit(r, <Real>x):
                operands[k] = NULL
                continue
        if (<Real>x).count and not codipy_is_temporary(x):
            identify(r, <Real>x)
        active += 1
        total += (<Real>x).count + ((<Real>x).count == 0)
    if active == 0:
        return new_real(value, 0)
    if r.kind != JACOBIAN:
        total += n - active
        for k in range(n):
            parts[k] = CONSTANT if operands[k] == NULL else (
                (<Real>operands[k]).program if (<Real>operands[k]).count else <int32_t>ARGUMENT)
        program = intern_program(code, parts[0], parts[1], parts[2])
    if total > MAX_LEAVES or (program == 0 and r.kind != JACOBIAN):
        for k in range(n):
            if operands[k] != NULL and (<Real>operands[k]).count:
                identify(r, <Real>operands[k])
            parts[k] = CONSTANT if operands[k] == NULL else ARGUMENT
        total = active if r.kind == JACOBIAN else n
        if r.kind != JACOBIAN:
            program = intern_program(code, parts[0], parts[1], parts[2])
    result = new_real(value, (total > 1) + (total > FEW_ENTRIES))
    (<Real>result).epoch = r.epoch
    (<Real>result).program = program
    (<Real>result).count = <uint8_t>total
    entries = (<Real>result).own
    if r.kind == JACOBIAN:
        op_partials(code, u[0], u[1] if n > 1 else 0.0, u[2] if n > 2 else 0.0, value, partials)
    for k in range(n):
        x = operands[k]
        if x == NULL:
            if r.kind != JACOBIAN:
                entries.number = u[k]
                entries.identifier = 0
                entries += 1
        elif (<Real>x).count == 0:
            entries.number = partials[k] if r.kind == JACOBIAN else u[k]
            entries.identifier = (<Real>x).identifier
            entries += 1
        else:
            (<Real>x).flags |= MERGED
            source = (<Real>x).own
            for j in range((<Real>x).count):
                entries.number = scaled(partials[k], source[j].number) if r.kind == JACOBIAN else source[j].number
                entries.identifier = source[j].identifier
                entries += 1
    if r.reuse:
        (<Real>result).flags |= OWNS
        entries = (<Real>result).own
        for j in range(total):
            if entries[j].identifier:
                (<ReuseIdentifiers>r.reusing).retain(entries[j].identifier)
    if r.eager:
        identify_new(r, result)
    return result
