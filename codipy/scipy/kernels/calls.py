# SPDX-License-Identifier: Apache-2.0
"""What the loops of all families share: plain values of what they are given, results into the arrays that they fill."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, call, identifiers, is_complex_variable
from codipy.active.doors import door
from codipy.active.messages.callers import refusal
from codipy.active.recordings import status
from codipy.errors import ActiveError
from codipy.numpy.arguments import holds_variables, value_tree
from codipy.scipy.calls import is_complex, numbers
from codipy.scipy.kernels.frozen import frozen

__all__ = [
    "active_at", "demand_no_loss", "float_type", "on_values", "plain_array", "refuse_loss", "refused_loop", "run_rule",
    "sums_at", "with_frozen", "write",
]  # fmt: skip


def on_values(original, args, kwargs=None):
    """Run a loop on plain values, and write what it writes into Arrays as well."""
    arrays = [k for k, x in enumerate(args) if hasattr(type(x), "is_active") and np.ndim(x)]
    plain = list(args)
    for k in arrays:
        plain[k] = plain_array(args[k])
    found = original(*plain, **value_tree(kwargs or {}))
    for k in arrays:
        if not np.array_equal(plain[k], args[k].value, equal_nan=True):
            args[k][...] = plain[k]
    return found


def run_rule(primitive, operands):
    """Record a rule with a complex derivative, of real or complex operands."""
    if any(map(is_complex, operands)):
        return door("complexes")().recorded_as_lifted(primitive, operands)
    return call(primitive, operands)


def sums_at(places, parts, count):
    """The sums of the numbers that go to each place, real or complex."""
    if np.iscomplexobj(parts):
        return np.bincount(places, parts.real, count) + 1j * np.bincount(places, parts.imag, count)
    return np.bincount(places, parts, count)


def active_at(x):
    """Which numbers of an array are active."""
    if is_complex_variable(x):
        return np.any(identifiers(x.pairs), axis=-1)
    return identifiers(x) != 0


def with_frozen(args):
    """The arguments of a loop, with copies in the place of indices, and nothing in that of values."""
    return [x if not np.ndim(x) else frozen(x) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else None
            for x in args]  # fmt: skip


def float_type(name, target):
    """The name of the type of an array that a loop fills; integers, of which there is no derivative, are refused."""
    kind = np.dtype(target.dtype)
    if kind.kind != "f":
        raise ActiveError(refusal(f"{name} of active values into an array of {kind}", "take an output of floats"))
    return kind.name


def plain_array(x):
    """A copy of the values of an array of ours, real or complex; active complex ones are refused."""
    if x.is_active and type(x) is not Array and not status.in_passive():
        raise ActiveError(refusal("a sparse matrix or a spline with active complex values",
                                  "compute with its real and its imaginary part"))  # fmt: skip
    return np.array(x.value)


def demand_real(what, *arrays, instead="compute with the real and with the imaginary part"):
    """Refuse complex numbers, plain or active, where rules know real ones: a cast would drop imaginary parts."""
    if any(getattr(getattr(x, "dtype", None), "kind", "") == "c" for x in arrays):
        raise ActiveError(refusal(f"{what} of complex numbers, beside what is active,", instead))


def write(target, values):
    """Fill an array that SciPy has made for a result."""
    if hasattr(type(target), "is_active"):
        target[...] = values
    elif holds_variables((values,)):
        raise ActiveError("scipy.sparse: active values would be written into a plain array: use the functions of "
                          "codipy.scipy, or rebound code, to make the matrix")  # fmt: skip
    else:
        target[...] = numbers(values)


def demand_no_loss(what, x, is_lost):
    """Refuse to leave out values that are zero now, if active ones are among them.

    Parameters
    ----------
    what : str
        Who leaves them out.
    x : Array
    is_lost : ndarray of bool
        Of the shape of `x`.
    """
    if np.any(is_lost) and np.any(active_at(x)[is_lost]):
        refuse_loss(what)


def refuse_loss(what):
    """Raise the error of entries that are zero now and have derivatives."""
    raise ActiveError(refusal(
        f"{what} leaves out an entry that is exactly 0, which",
        "add up entries at equal places, scipy.sparse.coo_array((data, (i, j))).tocsr(), which keeps zeros; where it "
        "is not wanted, say codipy.value(A)"))  # fmt: skip


def refused_loop(name, original, what, instead="compute with `A.data` or `A.toarray()`"):
    """What stands for a loop that has no rule."""

    def loop(*args, **kwargs):
        if holds_variables(args) or holds_variables(kwargs):
            raise ActiveError(refusal(f"{name} of SciPy's, {what},",
                                      f"{instead}; where it is not wanted, say codipy.value(x)"))  # fmt: skip
        return on_values(original, args, kwargs)

    return loop
