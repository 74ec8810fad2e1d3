# SPDX-License-Identifier: Apache-2.0
"""Values by SciPy's compiled code, with the derivative of a formula that computes the same in NumPy's functions.

What a loop in C does can often be written in a few lines of NumPy, whose derivatives codipy has, of any order. Its
values differ from SciPy's in the last bits, and may not: so a primitive puts SciPy's in their place. Rejected: rules by
hand, which would be such formulas three times (value, tangent, cotangent), and end at the first order.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, call
from codipy.errors import TapeError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import value_tree
from codipy.numpy.decisions import is_replayed
from codipy.numpy.links import Groups, Same
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.calls import demand_real

__all__ = ["with_values", "with_values_of"]


def _vjp(g, out, args, kwargs, argnums):
    return [g if k == 0 else None for k in argnums]


def _jvp(tangents, out, args, kwargs):
    return tangents[0] if 0 in tangents else np.zeros(np.shape(out))


def _pattern(args, kwargs, argnums, shapes):
    return [Groups(np.full(np.shape(args[k]), -1), np.full(shapes[0], -1), 0) if k else Same() for k in argnums]


def _put(name, formula, forward, operands):
    rule = Primitive(name, forward, _vjp, _jvp, keep_args=False, keep_out=False, pattern=_pattern)
    return call(rule, (formula, *operands))


def _floats(values):
    """A copy as floats, of single precision where SciPy's are."""
    return np.array(values, dtype=np.float32 if np.asarray(values).dtype == np.float32 else float)


def with_values(name, formula, values):
    """The formula with these values, which were computed of what is active: for tapes that run once.

    Parameters
    ----------
    name : str
    formula : Array or Real
    values : ndarray or float
    """
    demand_real(name, values)
    values = _floats(values)
    return _put(name, formula, lambda approximate: np.array(values), ())


def with_values_of(name, forward, args, formula, values=None):
    """The formula with the values of ``forward(*args)``, which `evaluate_primal()` computes anew.

    Parameters
    ----------
    name : str
        What is computed, for messages.
    forward : callable
        Of plain values.
    args : sequence
        Arrays and numbers, active or not.
    formula : Array or Real
        Of the shape of the result.
    values : ndarray, optional
        The values of now, where they are known.

    Returns
    -------
    Array or Real
    """
    plain = [np.array(x) if isinstance(x, np.ndarray) else x for x in value_tree(list(args))]
    values = forward(*plain) if values is None else values
    if np.shape(values) != np.shape(formula):
        raise ValueError(f"{name}: a formula of shape {np.shape(formula)} stands for {np.shape(values)}")
    if not is_replayed():
        return with_values(name, formula, values)
    places = [k for k, x in enumerate(args) if hasattr(type(x), "is_active") and x.is_active]

    def again(approximate, *operands):
        given = list(plain)
        for k, x in zip(places, operands):
            given[k] = np.array(x) if np.ndim(x) else float(x)
        found = _floats(forward(*given))
        if found.shape != np.shape(approximate):
            raise TapeError(f"{name} has the shape {found.shape} at these inputs, and {np.shape(approximate)} at those "
                            "of the recording: record again")  # fmt: skip
        return found

    return _put(name, formula, again, [as_numbers(args[k]) if type(args[k]) is Array else args[k] for k in places])
