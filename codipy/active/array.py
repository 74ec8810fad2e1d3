# SPDX-License-Identifier: Apache-2.0
"""What the NumPy doors and the drivers know of Arrays: values, identifiers, movements, primitives."""

import numpy as np

from codipy.active.array_type import Array
from codipy.active.arrays.calls import call, saved_apart
from codipy.active.arrays.packing import (
    filled,
    from_ndarray,
    from_nested,
    gather,
    identifiers,
    nested_numbers,
    with_gaps,
)
from codipy.active.arrays.reductions import learn_sums
from codipy.active.operators import learn_temporaries
from codipy.active.scalar.real import Real

__all__ = ["Array", "call", "filled", "from_ndarray", "from_nested", "gather", "identifiers", "is_active",
           "is_complex_variable", "nested_numbers", "plain", "saved_apart", "with_gaps"]


def plain(x):
    """The value of an Array or Real, anything else unchanged."""
    return x.value if type(x) is Array or type(x) is Real else x


def is_complex_variable(x):
    """Whether x is a ComplexArray or a Complex, which are made in a layer above."""
    return getattr(type(x), "is_complex_variable", False) is True


def is_active(x):
    """Whether x is an Array or Real that depends on an input."""
    return (type(x) is Array or type(x) is Real) and x.is_active


def _add_variables():
    x, y = Array(), Array()
    np.add(x, y)


def _sum_variable():
    x = Array()
    np.sum(x)


learn_temporaries(lambda: np.add(Array(), Array()), _add_variables)
learn_sums(0, lambda: np.sum(Array()), _sum_variable)
