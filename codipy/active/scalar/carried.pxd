# SPDX-License-Identifier: Apache-2.0
# Reals that carry their tangents, on a tape of the strategy `forward`.
#
# The tangents lie where other strategies keep the entries of a pending expression, which there is none of here, as long
# as the largest of those has room for so many; `count` is 1 then, and there is no identifier. A Real that gets one (an
# input, an output, an element of an array) has its tangents in the tape's vector instead, and more directions than
# there is room for are all there. Rejected: pending expressions and statements as `jacobian-reuse` has them, which only
# moves the tangents: counting who holds the identifiers alone takes 1.1 of Lorenz' plain run.
#
# MERGED says that something has read a Real: a seed would come too late.
from libc.math cimport isfinite
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.object cimport PyObject

from codipy.active.core.base_real cimport MERGED, OWNS, BaseReal, new_real
from codipy.active.scalar.expression cimport readmit
from codipy.operations.kernels cimport op_partials
from codipy.tape.recorder cimport Recorder, assign_identifier, tangents_at, withdraw_identifier


cdef inline const double* tangents_of(Recorder* r, PyObject* x) noexcept:
    """Of a Real of this recording."""
    if (<BaseReal>x).count:
        return <const double*>(<BaseReal>x).own
    return tangents_at(r, (<BaseReal>x).identifier)


cdef inline bint counts(Recorder* r, double partial) noexcept:
    """Whether a statement keeps this partial."""
    return (partial != 0.0 or not r.skip_zero) and (not r.skip_invalid or isfinite(partial))


cdef inline PyObject* new_carrier(Recorder* r, double value, int kind, double** tangents) except NULL:
    """A Real of this recording and the place for its tangents, which are not set."""
    cdef PyObject* x
    cdef int32_t identifier
    if r.carried >= 0:
        x = new_real(value, r.carried, kind)
        (<BaseReal>x).epoch, (<BaseReal>x).count = r.epoch, 1
        tangents[0] = <double*>(<BaseReal>x).own
        return x
    identifier = assign_identifier(r)
    try:
        x = new_real(value, 0, kind)
    except BaseException:
        withdraw_identifier(r, identifier)
        raise
    (<BaseReal>x).epoch, (<BaseReal>x).identifier, (<BaseReal>x).flags = r.epoch, identifier, OWNS
    tangents[0] = tangents_at(r, identifier)
    return x


cdef inline bint read_operands(Recorder* r, int n, PyObject** operands) except -1:
    """Whether an operand is of this recording; the others become NULL."""
    cdef bint active = False
    cdef int k
    for k in range(n):
        if operands[k] == NULL:
            continue
        if (<BaseReal>operands[k]).epoch != r.epoch and not readmit(r, <BaseReal>operands[k]):
            operands[k] = NULL
            continue
        (<BaseReal>operands[k]).flags |= MERGED
        active = True
    return active


cdef inline void carry_on(Recorder* r, int n, PyObject** operands, const double* partials, double* target) noexcept:
    """The tangents of a result with these partials."""
    cdef const double* tangents
    cdef double dot, partial
    cdef Py_ssize_t d
    cdef int k
    if r.width == 1:
        dot = 0.0
        for k in range(n):
            if operands[k] != NULL:
                tangents = tangents_of(r, operands[k])
                if tangents[0] != 0.0 and counts(r, partials[k]):    # as in a sweep: a zero tangent propagates nothing
                    dot += partials[k] * tangents[0]
        target[0] = dot
        return
    for d in range(r.width):
        target[d] = 0.0
    for k in range(n):
        if operands[k] != NULL and counts(r, partials[k]):
            tangents, partial = tangents_of(r, operands[k]), partials[k]
            for d in range(r.width):
                target[d] += partial * tangents[d] if tangents[d] != 0.0 else 0.0


cdef inline PyObject* carry(Recorder* r, int code, int n, PyObject** operands, const double* u, double value,
                            int kind) except NULL:
    """`combine` of expression.pxd for a recorder that carries."""
    cdef PyObject* result
    cdef double* target = NULL
    cdef double partials[3]
    if not read_operands(r, n, operands):
        return new_real(value, 0, kind)
    result = new_carrier(r, value, kind, &target)
    op_partials(code, u[0], u[1] if n > 1 else 0.0, u[2] if n > 2 else 0.0, value, partials)
    carry_on(r, n, operands, partials, target)
    return result


cdef inline PyObject* carried_element(Recorder* r, double value, int kind, int32_t identifier) except NULL:
    """An element of an array: it carries a copy of what stands there now, and holds no identifier of the array's."""
    cdef double* target = NULL
    cdef PyObject* x = new_carrier(r, value, kind, &target)
    r.steps += 1
    memcpy(target, tangents_at(r, identifier), r.width * sizeof(double))
    return x
