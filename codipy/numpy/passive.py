# SPDX-License-Identifier: Apache-2.0
"""Functions whose result has no derivative, or one that is zero wherever it exists: they run on plain values."""

from __future__ import annotations

from functools import partial

import numpy as np

from codipy.active.array import plain
from codipy.active.arrays.elementwise_door import overlap
from codipy.active.recordings.recognised import note_equal, note_taken

from .arguments import assign, bind, call_with, holds_active, kept_by, value_tree
from .decisions import decision, keep
from .names import of_name

__all__ = ["FUNCTIONS", "on_values"]

# What it returns, and the names.
KINDS = {
    "truth": "all any allclose array_equal array_equiv isclose iscomplex iscomplexobj isin isneginf isposinf isreal "
    "isrealobj can_cast may_share_memory shares_memory",
    "places": "argmax argmin argpartition argsort argwhere digitize flatnonzero lexsort nanargmax nanargmin nonzero "
    "searchsorted unravel_index ravel_multi_index diag_indices_from tril_indices_from triu_indices_from",
    "counts and kinds": "count_nonzero ndim shape size common_type min_scalar_type result_type einsum_path "
    "linalg.matrix_rank",
    "a step function": "angle around round fix",
    "text": "array2string array_repr array_str",
}


def on_values(func, args, kwargs):
    """Call the function on values."""
    bound = bind(func, args, kwargs)
    out = bound.pop("out", None)
    if (decides := _DECISIONS.get(func)) is not None:
        keep(decides, (bound,))
    if out is not None:
        bound["out"] = np.array(plain(out))  # the values of some depend on its dtype
    found = call_with(func, bound, value_tree)
    if func in _OF_TWO:
        note_equal(found, True, [*map(holds_active, list(bound.values())[:2])])
    elif func in _OF_VALUES:
        note_taken()
    return assign(found, out, kept_by(func.__name__))


def _again(func, bound):
    return call_with(func, bound, value_tree)


def _on_memory(func, args, kwargs):
    """Call the function on what Arrays are views of: their values may be copies. A Real is a copy of its own."""
    return overlap(func, *args, **kwargs)


def _fix(func, args, kwargs):
    """`np.fix` before NumPy 2.4, of two ufuncs: the second one sees what the first has written into ``out=``."""
    bound = bind(func, args, kwargs)
    x, out = bound["x"], bound.get("out")
    if out is None or not overlap(np.may_share_memory, x, out):
        return on_values(func, args, kwargs)
    return np.floor(x, out=np.ceil(x, out=out), where=np.greater_equal(x, 0))


_OF_TWO = {np.allclose, np.array_equal, np.array_equiv, np.isclose}  # which say whether they are equal
_OF_VALUES = {np.around, np.round, np.fix, np.array2string, np.array_repr, np.array_str}  # of which keys are made

# What was recorded may depend on these. Truth is a condition of the user's, and shapes stay.
_DECIDING = f"{KINDS['places']} {KINDS['a step function']} count_nonzero linalg.matrix_rank".split()
_DECISIONS = {func: decision(f"np.{name}", partial(_again, func))
              for name in _DECIDING for func in [of_name(name)] if func is not None}  # fmt: skip

FUNCTIONS = {name: on_values for names in KINDS.values() for name in names.split()}
FUNCTIONS |= dict.fromkeys(["may_share_memory", "shares_memory"], _on_memory)
if np.lib.NumpyVersion(np.__version__) < "2.4.0":
    FUNCTIONS["fix"] = _fix
if hasattr(np, "in1d"):  # gone from NumPy 2.4
    FUNCTIONS["in1d"] = on_values
