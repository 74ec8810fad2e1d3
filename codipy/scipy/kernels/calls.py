# SPDX-License-Identifier: Apache-2.0
"""What the loops of all families share: plain values of what they are given, results into the arrays that they fill."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, identifiers
from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.active.recordings import status
from codipy.errors import ActiveError
from codipy.numpy.arguments import holds_active, value_tree
from codipy.scipy.kernels.frozen import frozen

__all__ = [
    "demand_no_loss", "float_type", "on_values", "plain_array", "refuse_loss", "refused_loop", "with_frozen", "write",
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


def demand_real(what, *arrays):
    """Refuse complex numbers, plain or passive, where rules know real ones: a cast would drop imaginary parts."""
    if any(map(np.iscomplexobj, arrays)):
        raise ActiveError(refusal(f"{what} of complex numbers, beside what is active,",
                                  "compute with the real and with the imaginary part"))  # fmt: skip


def write(target, values):
    """Fill an array that SciPy has made for a result."""
    if hasattr(type(target), "is_active"):
        target[...] = values
    elif holds_active((values,)):
        raise ActiveError("scipy.sparse: active values would be written into a plain array: use the functions of "
                          "codipy.scipy, or rebound code, to make the matrix")  # fmt: skip
    else:
        target[...] = value_of(values)


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
    if np.any(is_lost) and np.any(identifiers(x)[is_lost]):
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
        if holds_active(args) or holds_active(kwargs):
            raise ActiveError(refusal(f"{name} of SciPy's, {what},",
                                      f"{instead}; where it is not wanted, say codipy.value(x)"))  # fmt: skip
        return on_values(original, args, kwargs)

    return loop
