# SPDX-License-Identifier: Apache-2.0
"""A Real of a value and of partial derivatives that the caller has, as those of a complex number's parts."""
from libc.stdint cimport uint8_t
from cpython.object cimport PyObject

from codipy.active.core.base_real cimport OWNS, BaseReal, codipy_new_reference, new_real, set_spot
from codipy.active.scalar.carried cimport carry_on, new_carrier, read_operands
from codipy.active.scalar.expression cimport FEW_ENTRIES, identify, identify_new, merge, readmit
from codipy.active.scalar.real cimport Real
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.programs.program cimport MAX_LEAVES
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Entry, Recorder

cdef extern from "codipy/inline.h":
    pass


cdef inline int entries_of(int n, PyObject** operands) noexcept:
    cdef int k, total = 0
    for k in range(n):
        if operands[k] != NULL:
            total += (<BaseReal>operands[k]).count or 1
    return total


cdef int admit_all(Recorder* r, int n, PyObject** operands, unsigned int merged) except -1:
    """How many entries the operands bring; those that are passive here become NULL."""
    cdef int k, total
    for k in range(n):
        if operands[k] == NULL:
            continue
        if (<BaseReal>operands[k]).epoch != r.epoch and not readmit(r, <BaseReal>operands[k]):
            operands[k] = NULL
        elif (<BaseReal>operands[k]).count and not merged >> k & 1:
            identify(r, <BaseReal>operands[k])
    total = entries_of(n, operands)
    return total if total <= MAX_LEAVES else admit_all(r, n, operands, 0)


cdef Real of_partials(Recorder* r, int n, PyObject** operands, const double* partials, double value, int kind,
                      unsigned int merged):
    cdef PyObject* result
    cdef Entry* entries
    cdef Entry* end
    cdef double* target = NULL
    cdef int k, total
    if r.carries:
        if not read_operands(r, n, operands):
            return codipy_new_reference(new_real(value, 0, kind))
        result = new_carrier(r, value, kind, &target)
        carry_on(r, n, operands, partials, target)
        return codipy_new_reference(result)
    total = admit_all(r, n, operands, merged)
    if total == 0:
        return codipy_new_reference(new_real(value, 0, kind))
    result = new_real(value, (total > 1) + (total > FEW_ENTRIES), kind)
    (<BaseReal>result).epoch = r.epoch
    (<BaseReal>result).program = 0
    (<BaseReal>result).count = <uint8_t>total
    entries = (<BaseReal>result).own
    for k in range(n):
        if operands[k] != NULL:
            entries = merge(True, entries, operands[k], partials[k], 0.0)
    if r.reuse:
        (<BaseReal>result).flags |= OWNS
        end, entries = entries, (<BaseReal>result).own
        while entries < end:
            (<ReuseIdentifiers>r.reusing).retain(entries.identifier)
            entries += 1
    if r.apart:
        set_spot(<BaseReal>result, (<Journal>r.journal).spots.here())
    if r.eager:
        identify_new(r, result)
    return codipy_new_reference(result)
