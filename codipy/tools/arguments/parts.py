# SPDX-License-Identifier: Apache-2.0
"""Complex numbers of a driver as pairs of real ones, where a recording is run again by operations of another.

What runs again knows identifiers of real numbers. So a complex variable has two for each of its numbers, in an axis of
their own, and what is found for these is made complex again.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, Real, identifiers, is_active, is_complex_variable

__all__ = ["depends", "identifiers_of_parts", "inputs_of_parts", "parts_of", "whole"]


_REAL = frozenset((Real, Array, float, int, np.float64))  # to ask NumPy for each number of a list takes long


def depends(x):
    """Whether x is a variable that depends on an input, real or complex."""
    return is_active(x) or is_complex_variable(x) and x.is_active


def identifiers_of_parts(x):
    """Those of a variable; of a complex one with one axis more."""
    if not is_complex_variable(x):
        return identifiers(x)
    if hasattr(x, "pairs"):
        return identifiers(x.pairs)
    return np.array([identifiers(x.real), identifiers(x.imag)], np.int32)


def parts_of(x):
    """Complex numbers, plain or variables, as pairs of real ones; what is real as it is."""
    if type(x) in _REAL or not (is_complex_variable(x) or np.iscomplexobj(x)):
        return x
    from codipy.complexes.record import paired  # here: a script without complex numbers imports none of it

    return paired(x)


def inputs_of_parts(ids, origin):
    """First identifiers and what they stand for: the parts of a complex number were registered one by one."""
    if np.ndim(ids) == 1 and not np.ndim(getattr(origin, "value", origin)) and (
            is_complex_variable(origin) or np.iscomplexobj(origin)):
        return [(ids[:1], origin.real), (ids[1:], origin.imag)]
    return [(ids, parts_of(origin))]


def whole(found, like):
    """What was found for parts, as the numbers that `like` has: complex ones, or what it is."""
    if not np.iscomplexobj(like):
        return found
    from codipy.complexes.record import results_of

    made = results_of(found, "a" if isinstance(like, np.ndarray) else "c")
    return made.stands_for(complex) if type(like) is complex and is_complex_variable(made) else made
