# SPDX-License-Identifier: Apache-2.0
"""The strategy `forward`: statements that are not operations on Reals, and what may be seeded."""
import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
cimport cython

from codipy.data.stream cimport Stream
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.tape.recorder cimport Entry, FORWARD, Recorder, assign_identifier, tangents_at
from codipy.tape.strategies.strategy cimport Strategy

TOO_LATE = ("a tangent is set before the input is used: what was computed from it since does not know the seed. Set "
            "x.tangent right behind register_input(); for other directions take width=, or run the function again")


def seed_rows(seed, tuple shape, Py_ssize_t width, number=np.float64):
    """Tangents as rows for a variable.

    Parameters
    ----------
    seed : array_like
        Of its shape, for all directions, or with one axis more, the last, for the directions.
    shape : tuple
        Its shape.
    width : int
        Directions.
    number : type
        What they are numbers of, ``numpy.float64`` or ``numpy.complex128``.

    Returns
    -------
    ndarray
        Of shape (elements, width).

    Raises
    ------
    TypeError, ValueError
        If the seed is not of such numbers, or has another shape.
    """
    numbers = np.asarray(seed)
    if numbers.dtype.kind not in ("fiubc" if number is np.complex128 else "fiub"):
        raise TypeError(f"tangent: a seed must be plain {'complex' if number is np.complex128 else 'real'} numbers, got "
                        f"{type(seed).__name__}")
    try:
        if width == 1 or numbers.ndim <= len(shape) and shape:
            numbers = np.broadcast_to(numbers, shape)[..., None]
        return np.array(np.broadcast_to(numbers, (*shape, width)), number).reshape(-1, width)
    except ValueError:
        wide = f" or {(*shape, width)}" if width > 1 else ""
        raise ValueError(f"tangent: a seed must have the shape {shape}{wide}, or one that broadcasts to it, got "
                         f"{np.shape(seed)}") from None


@cython.final
cdef class Forward(Strategy):
    """Forward()
    --

    Identifiers and statements of `forward`. Its one stream stays empty: it is there for positions.
    """
    def __cinit__(self, *_):
        self.root = Stream("statements", ["u1"])
        self.streams = ()
        self.reusing = ReuseIdentifiers()
        self.first = 0
        self.seedable = set()

    cdef void connect(self, Recorder* r) noexcept:
        Strategy.connect(self, r)
        r.statements = r.arguments = &self.root.cursor
        r.kind = FORWARD
        r.carries = r.apart = r.names_results = True

    cdef Py_ssize_t statements(self) except -1:
        return 0

    cdef int32_t push_input(self, Recorder* r, double value) except -1:
        return self.push_copy(r, 0, value)

    cdef int32_t push_copy(self, Recorder* r, int32_t source, double value) except -1:
        cdef int32_t lhs = assign_identifier(r)
        if source:
            memcpy(tangents_at(r, lhs), tangents_at(r, source), r.width * sizeof(double))
        else:
            memset(tangents_at(r, lhs), 0, r.width * sizeof(double))
        return lhs

    cdef int32_t push_handmade(self, Recorder* r, double value, const Entry* entries, Py_ssize_t count) except -1:
        cdef int32_t lhs = assign_identifier(r)
        cdef double* result = tangents_at(r, lhs)
        cdef double jacobian, tangent, dot
        cdef Py_ssize_t d, i
        for d in range(r.width):
            dot = 0.0
            for i in range(count):
                jacobian, tangent = entries[i].number, tangents_at(r, entries[i].identifier)[d]
                if tangent != 0.0 and (jacobian != 0.0 or not r.skip_zero) and (isfinite(jacobian) or not r.skip_invalid):
                    dot += jacobian * tangent
            result[d] = dot
        return lhs

    cdef int forget(self) except -1:
        self.seedable.clear()
        return Strategy.forget(self)

    cdef int note_input(self, Recorder* r, int32_t first) except -1:
        if self.seedable_at != r.steps:
            self.seedable.clear()
            self.seedable_at = r.steps
        self.seedable.add(first)
        return 0

    cdef bint is_seedable(self, Recorder* r, int32_t first) except? True:
        return self.seedable_at == r.steps and first in self.seedable
