# SPDX-License-Identifier: Apache-2.0
"""Complex inputs and outputs of a tape: each part is one."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, Real
from codipy.complexes.array import ComplexArray
from codipy.complexes.pairs import pairs_of_complex
from codipy.complexes.scalar import Complex

__all__ = ["register_input", "register_output"]


def register_input(tape, z):
    """Make a complex variable an input in place, or make an input of a plain number or array."""
    if isinstance(z, np.ndarray):
        return ComplexArray.of_pairs(tape.register_input(pairs_of_complex(z)))
    if type(z) is ComplexArray:
        tape.register_input(z.pairs)
        return z
    if type(z) is not Complex:
        z = Complex.of(Real(z.real), Real(z.imag), complex if type(z) is complex else z.dtype.type)
    tape.register_input(z.real)
    tape.register_input(z.imag)
    return z


def register_output(tape, z):
    """Give the parts of a complex result identifiers of their own."""
    if type(z) is ComplexArray:
        return ComplexArray.of_pairs(tape.register_output(z.pairs), z.base)
    if isinstance(z, np.ndarray):
        return ComplexArray.of_pairs(tape.register_output(Array(pairs_of_complex(z))))
    kind = z.kind if type(z) is Complex else complex if type(z) is complex else z.dtype.type
    return Complex.of(tape.register_output(z.real), tape.register_output(z.imag), kind)
