# SPDX-License-Identifier: Apache-2.0
"""What the layers below ask for by name, when the first complex number comes into being."""

from numpy import ndarray

from codipy.complexes.array import ComplexArray
from codipy.complexes.composed import as_array
from codipy.complexes.creation import array, as_complex, as_type, full, number, of_parts, pairs_of
from codipy.complexes.flat import ComplexFlat
from codipy.complexes.functions import METHODS, array_function
from codipy.complexes.holomorphic import recorded_as_lifted
from codipy.complexes.movement import Shown, copied, get_item, item, moved, pair_identifiers, plain, seen, set_item
from codipy.complexes.operators import applied_operator, apply_operator, recorded_operator
from codipy.complexes.record import recorded, recorded_once
from codipy.complexes.registered import register_input, register_output
from codipy.complexes.scalar import Complex
from codipy.complexes.ufuncs import array_ufunc, combine, fresh, in_place, operate
from codipy.numpy.allocation import move_also
from codipy.numpy.standins import stand_for

__all__ = [
    "METHODS", "ComplexFlat", "Shown", "applied_operator", "apply_operator", "array", "array_function", "array_ufunc",
    "as_array", "as_complex", "as_type", "combine", "copied", "fresh", "full", "get_item", "in_place", "item", "moved",
    "number", "of_parts", "operate", "pair_identifiers", "pairs_of", "plain", "recorded", "recorded_as_lifted",
    "recorded_once", "recorded_operator", "register_input", "register_output", "seen", "set_item",
]  # fmt: skip

move_also(Complex, ComplexArray)
stand_for(ComplexArray, lambda z: ndarray)
stand_for(Complex, lambda z: z.kind)
