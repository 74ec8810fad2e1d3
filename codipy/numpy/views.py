# SPDX-License-Identifier: Apache-2.0
"""What NumPy gives a view of is here a view of the Array, so that writing through it reaches it.

NumPy itself says what is one: the function runs on stand-ins, plain arrays with the dtype, layout and flags of the
Arrays, and each result that is a view of a stand-in is the same view of the Array.
"""

from __future__ import annotations

from functools import partial, wraps

import numpy as np

from codipy.active.array import Array, from_nested
from codipy.active.arrays.plain import is_view_of, is_writable, shown_as, stand_in
from codipy.active.scalar.real import Real

from .arguments import fillable, gather_tree, like_objects, rebuilt, value_leaf
from .names import there

__all__ = ["DATA", "Shown", "as_strided"]

# Functions that give views wherever they can, and their arguments that are seen.
DATA = there({
    "array_split": "ary",
    "atleast_1d": "arys",
    "atleast_2d": "arys",
    "atleast_3d": "arys",
    "broadcast_arrays": "args",
    "broadcast_to": "array",
    "diag": "v",
    "diagonal": "a",
    "dsplit": "ary",
    "expand_dims": "a",
    "flip": "m",
    "fliplr": "m",
    "flipud": "m",
    "hsplit": "ary",
    "ix_": "args",
    "lib.stride_tricks.sliding_window_view": "x",
    "linalg.diagonal": "x",
    "linalg.matrix_transpose": "x",
    "matrix_transpose": "x",
    "meshgrid": "xi",
    "moveaxis": "a",
    "ravel": "a",
    "real": "val",
    "real_if_close": "a",
    "reshape": "a",
    "rollaxis": "a",
    "rot90": "m",
    "split": "ary",
    "squeeze": "a",
    "swapaxes": "a",
    "tile": "A",
    "transpose": "a",
    "unstack": "x",
    "vsplit": "ary",
})  # fmt: skip


class Shown:
    """The Arrays of one call, and their stand-ins.

    Parameters
    ----------
    writable : bool
        Whether stand-ins are where the Arrays are; if not, for functions that may write, views are.
    as_they_are : bool
        Whether arrays of objects stand for themselves, for functions that look at no element, not for their values.
    """

    def __init__(self, writable=True, as_they_are=False):
        self.pairs = []
        self.writable, self.as_they_are = writable, as_they_are

    def tree(self, tree):
        """The tree of arguments with stand-ins for Arrays, and values of everything else."""
        return rebuilt(tree, self._stand_in)

    def _stand_in(self, x):
        if type(x) is not Array:
            if not isinstance(x, np.ndarray):
                return value_leaf(x)
            x = x if self.as_they_are else like_objects(value_leaf(x), x)
            self.pairs.append((x, None))
            return x
        for plain, array in self.pairs:
            if array is x:
                return plain
        plain = stand_in(x) if self.writable else x.value
        self.pairs.append((plain, x))
        return plain

    def view(self, leaf):
        """The view of an argument that a result is, or None."""
        if not isinstance(leaf, np.ndarray):
            return None
        for plain, array in self.pairs:
            if not is_view_of(leaf, plain):
                continue
            if array is None:
                return leaf
            view = shown_as(array, plain, leaf)
            if not self.writable and view is not array:
                view._write_as(array)
            return view
        return None

    def results(self, values, ids=None):
        """What a function gave for stand-ins, as views and as new Arrays.

        Parameters
        ----------
        values : object
            Arrays and numbers, in lists, tuples and named tuples.
        ids : callable, optional
            The same with identifiers, if anything is active; asked for what is no view.
        """
        if isinstance(values, (list, tuple)):
            parts = [self.results(part, ids and partial(_part, ids, k)) for k, part in enumerate(values)]
            return type(values)(*parts) if hasattr(values, "_fields") else type(values)(parts)
        view = self.view(values)
        return self._new(values, ids) if view is None else view

    def _new(self, values, ids):
        if type(values) is float and ids is not None:  # a number of Python's, which NumPy hands on as it is
            return self._new(np.float64(values), ids).item()
        if not self._is_new(values):
            is_complex = ids is not None and np.iscomplexobj(values)
            return gather_tree(values, ids()) if is_complex else values  # or the reason why not
        if ids is None and not any(array is not None for _, array in self.pairs):
            return values
        repeated = [n > 1 and step == 0 and values.size > 0 for n, step in zip(values.shape, values.strides)]
        if not any(repeated):
            return self._made(values, ids)
        once = tuple(slice(0, 1 if again else None) for again in repeated)
        made = self._new(values[once], ids and (lambda: ids()[once]))
        if type(made) is np.ndarray:
            return values
        shown = type(self)()  # NumPy repeats elements without a copy: so does this
        view = shown.view(np.broadcast_to(shown.tree(made), values.shape))
        view.flags.writeable = is_writable(values)
        return view


    def _is_new(self, values):
        return isinstance(values, (np.ndarray, np.floating)) and values.dtype.kind == "f"

    def _made(self, values, ids):
        return fillable(values) if ids is None else gather_tree(values, ids())


def _part(ids, k):
    return ids()[k]


@wraps(np.lib.stride_tricks.as_strided, updated=())
def as_strided(x, *args, **kwargs):
    if type(x) is Real:
        x = from_nested(x)
    if type(x) is not Array:
        return np.lib.stride_tricks.as_strided(x, *args, **kwargs)
    shown = Shown()
    return shown.view(np.lib.stride_tricks.as_strided(shown.tree(x), *args, **kwargs))
