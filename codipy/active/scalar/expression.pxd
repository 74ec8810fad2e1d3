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
from cpython.object cimport PyObject

from codipy.active.core.base_real cimport MERGED, OWNS, BaseReal, new_real
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.operations.kernels cimport op_partials
from codipy.programs.program cimport ARGUMENT, CONSTANT, MAX_LEAVES, intern_program
from codipy.tape.recorder cimport Entry, Recorder

cdef extern from "codipy/active/core/object.h":
    bint codipy_is_temporary(PyObject* o) noexcept

cdef enum:
    FEW_ENTRIES = 4              # of size class 1; size class 2 holds MAX_LEAVES


# Slow paths, in expression.pyx.
# Push the pending expression of x. identify_new: of a result just made, which dies if that fails.
cdef int identify(Recorder* r, BaseReal x) except -1
cdef int identify_new(Recorder* r, PyObject* x) except -1
# `identify` for a plain recorder (see Recorder).
cdef int identify_plain(Recorder* r, PyObject* x) except -1
# The same where it would be plain without a profile: the statement is one of the spot where the expression was made.
cdef int identify_noted(Recorder* r, PyObject* x) except -1
# Whether x takes part in the recording r (NULL: none): 1 yes, 0 as a passive value (inside passive()); else an error.
cdef int readmit(Recorder* r, BaseReal x) except -1
# Give back what x holds on its tape.
cdef void make_passive(BaseReal x) noexcept
cdef void release_uses(BaseReal x) noexcept
# Python's own callable for each row of the table, or None.
cdef object callable_of(int code)
# The value of an operation by Python's own callable: its exceptions, infinities and NaN, and rows without a C twin.
# Its arguments go by value: an address that leaves the operators keeps gcc from holding the numbers in registers.
cdef void forget_flags(int code, double x, double y, double z) noexcept
cdef double python_value(int code, int n, double x, double y, double z) except? -1.0
# 1: `number` is the value of o, which is no Real; 0: o is no real number.
cdef int as_number(PyObject* o, double* number) except -1


cdef inline void release_here(Recorder* r, BaseReal x) noexcept:
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


cdef inline int admit(Recorder* r, PyObject** operand, bint plain, bint noted) except -1:
    """How many entries an operand brings; an operand that is used again is pushed first. Passive: 0, and NULL."""
    cdef PyObject* x = operand[0]
    if x == NULL:
        return 0
    if r == NULL or (<BaseReal>x).epoch != r.epoch:
        if not readmit(r, <BaseReal>x):
            operand[0] = NULL
            return 0
    if (<BaseReal>x).count == 0:
        return 1
    if codipy_is_temporary(x):
        return (<BaseReal>x).count
    if plain and noted:
        identify_noted(r, x)
    elif plain:
        identify_plain(r, x)
    else:
        identify(r, <BaseReal>x)
    return 1


cdef inline int32_t program_of_operand(PyObject* x) noexcept:
    if x == NULL:
        return CONSTANT
    return (<BaseReal>x).program if (<BaseReal>x).count else <int32_t>ARGUMENT


cdef inline Entry* merge(bint jacobian, Entry* entries, PyObject* x, double partial, double u) noexcept:
    """Write an operand's entries for a result whose partial is `partial`; u is its primal. Returns the end."""
    cdef Entry* source
    cdef Entry* end
    if x == NULL:
        if not jacobian:
            entries.number, entries.identifier = u, 0
            entries += 1
    elif (<BaseReal>x).count == 0:
        entries.number, entries.identifier = partial if jacobian else u, (<BaseReal>x).identifier
        entries += 1
    else:
        (<BaseReal>x).flags |= MERGED
        source = (<BaseReal>x).own
        end = source + (<BaseReal>x).count
        while source < end:
            entries.number = scaled(partial, source.number) if jacobian else source.number
            entries.identifier = source.identifier
            entries += 1
            source += 1
    return entries


cdef inline PyObject* combine(Recorder* r, int code, int n, PyObject** operands, const double* u, double value,
                              int kind, bint plain, bint noted) except NULL:
    """The Real of one operation, in the recording r (NULL: none).

    operands[k] is a Real with an epoch, or NULL for a passive argument of value u[k]. Operators inline it with
    `code`, `n` and `plain` (see Recorder) as literals, so that only their own partials and the path of the default
    strategy remain; all else goes through one general copy. `noted`: the recording is profiled. Written without a loop over the operands: gcc did not
    unroll it, which cost a tenth.
    """
    cdef PyObject* result
    cdef Entry* entries
    cdef Entry* end
    cdef double partials[3]
    cdef int32_t program = 0
    cdef bint jacobian
    cdef int k, total = admit(r, operands, plain, noted)
    if n > 1:
        total += admit(r, operands + 1, plain, noted)
    if n > 2:
        total += admit(r, operands + 2, plain, noted)
    if total == 0:
        return new_real(value, 0, kind)
    jacobian = plain or not r.keeps_values
    if not jacobian:
        total += ((operands[0] == NULL) + (n > 1 and operands[1] == NULL) + (n > 2 and operands[2] == NULL))
        program = intern_program(code, program_of_operand(operands[0]), program_of_operand(operands[1]) if n > 1 else 0,
                                 program_of_operand(operands[2]) if n > 2 else 0)
    if total > MAX_LEAVES or (program == 0 and not jacobian):
        total = 0
        for k in range(n):
            if operands[k] != NULL and (<BaseReal>operands[k]).count:
                identify(r, <BaseReal>operands[k])
            total += not jacobian or operands[k] != NULL
        if not jacobian:
            program = intern_program(code, program_of_operand(operands[0]),
                                     program_of_operand(operands[1]) if n > 1 else 0,
                                     program_of_operand(operands[2]) if n > 2 else 0)
    result = new_real(value, (total > 1) + (total > FEW_ENTRIES), kind)
    (<BaseReal>result).epoch = r.epoch
    (<BaseReal>result).program = program
    (<BaseReal>result).count = <uint8_t>total
    if jacobian:
        op_partials(code, u[0], u[1] if n > 1 else 0.0, u[2] if n > 2 else 0.0, value, partials)
    else:
        partials[0] = partials[1] = partials[2] = 0.0
    entries = merge(jacobian, (<BaseReal>result).own, operands[0], partials[0], u[0])
    if n > 1:
        entries = merge(jacobian, entries, operands[1], partials[1], u[1])
    if n > 2:
        entries = merge(jacobian, entries, operands[2], partials[2], u[2])
    if not plain and r.reuse:
        (<BaseReal>result).flags |= OWNS
        end, entries = entries, (<BaseReal>result).own
        while entries < end:
            if entries.identifier:
                (<ReuseIdentifiers>r.reusing).retain(entries.identifier)
            entries += 1
    if not plain and r.eager:
        identify_new(r, result)
    return result
