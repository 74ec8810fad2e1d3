# SPDX-License-Identifier: Apache-2.0
"""Values of ufuncs as NumPy has them for an ``out=`` where strides are negative: its loops for these have other bits.
Those of complex numbers and of products have them wherever the result lies otherwise.

So NumPy's loop is run once more, on copies that lie in memory as the arrays do, also to each other: where what
is written is read as well, NumPy decides by that what it computes in another place first.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array
from codipy.active.arrays.elementwise_door import overlap
from codipy.scipy.kernels.exact import with_values_of

from .arguments import holds_active

__all__ = ["by_loop", "loop_for", "span", "with_values_for"]


def span(place, shape, strides, itemsize):
    """The first byte of an array whose first element is at a place, and the one after the last."""
    steps = [step * (size - 1) for step, size in zip(strides, shape)]
    return place + sum(s for s in steps if s < 0), place + sum(s for s in steps if s > 0) + itemsize


def _memory(x):
    """What of an array lies in memory: the pairs of a ComplexArray."""
    return getattr(x, "pairs", x)


def _value(x):
    return x.value if hasattr(type(x), "is_active") else x


def _is_array(x):
    return isinstance(_memory(x), (Array, np.ndarray))


def _geometry(x, written):
    """The strides of an array and its first element from that of another one, None where they share no memory.

    In elements: values of an Array may be a copy, and one of its memory of numbers of another size.
    """

    def relation(x, written):
        place = (x.__array_interface__["data"][0] - written.__array_interface__["data"][0]) // x.itemsize
        return [step // x.itemsize for step in x.strides], place if np.may_share_memory(x, written) else None

    return overlap(relation, x, written) or (overlap(relation, x, x)[0], None)


class _Layout:
    """Where arrays lie, of which the last is written to."""

    def __init__(self, arrays):
        written = _memory(arrays[-1])
        self._places = []
        for x in arrays:
            if not _is_array(x):
                self._places.append(None)
                continue
            strides, place = _geometry(_memory(x), written)
            unit = _memory(x).dtype.itemsize
            bytes_between = None if place is None else place * unit
            steps = tuple(step * unit for step in strides[: len(x.shape)])
            self._places.append((bytes_between, x.shape, steps, x.dtype.itemsize))
        spans = [span(*known) for known in self._places if known is not None and known[0] is not None]
        self._first, self._last = min(span[0] for span in spans), max(span[1] for span in spans)

    def copies(self, values):
        """Arrays with other values that lie likewise."""
        shared = np.empty(self._last - self._first, np.uint8)
        made = []
        for value, known in zip(reversed(values), reversed(self._places)):
            if known is None:
                made.append(value)
                continue
            place, shape, strides, itemsize = known
            if place is not None:
                memory, offset = shared, place - self._first
            else:
                first, last = span(0, shape, strides, itemsize)
                memory, offset = np.empty(last - first, np.uint8), -first
            made.append(np.ndarray(shape, np.asarray(value).dtype, memory, offset, strides))
            made[-1][...] = value
        return made[::-1]


def _is_reversed(x):
    """Whether elements of an array stand in reverse."""
    if not _is_array(x):
        return False
    strides, _ = _geometry(_memory(x), _memory(x))
    return any(step < 0 < size - 1 for step, size in zip(strides, x.shape))


def _is_repeated(inputs, out):
    """Whether a result stands several times in ``out=``."""
    return np.broadcast_shapes(*(np.shape(_value(x)) for x in inputs)) != out.shape


def loop_for(ufunc, inputs, out, options, always=False):
    """What runs NumPy's loop for an ``out=`` of which elements stand in reverse, or in which a result stands several
    times that is of such operands; None where neither is so.

    Parameters
    ----------
    ufunc : ufunc
        With one result.
    inputs : tuple
        Arrays and numbers, active or not.
    out : Array
        Or a plain array.
    options : dict
        Keyword arguments.
    always : bool
        Wherever the result stands: of complex numbers and of products.

    Returns
    -------
    callable or None
        Of plain values of the inputs and of what stands in `out`: gives the result.
    """
    if not out.size:
        return None
    is_repeated = ufunc.signature is None and _is_repeated(inputs, out)
    if not (always or _is_reversed(out) or is_repeated and any(map(_is_reversed, inputs))):
        return None
    layout = _Layout([*inputs, out])

    def run(*values):
        *given, result = layout.copies(values)
        with np.errstate(all="ignore"):  # the call itself has said it
            ufunc(*given, out=result, **options)
        return np.array(result)

    return run


def by_loop(ufunc, found, inputs, out, options, always):
    """What NumPy's loop gives for an ``out=`` in the place of a result, real or complex.

    Parameters
    ----------
    ufunc : ufunc
        With one result.
    found : Array or Real or ComplexArray or Complex
        Its result as it is without that. Or plain.
    inputs : tuple
    out : Array or ComplexArray
        Or plain; where it is no array there is nothing else to give.
    options : dict
        Keyword arguments.
    always : bool
        As for `loop_for`.

    Returns
    -------
    tuple or None
        The result in the shape of `out`, the values, and what computes them of which arguments; None where the result
        has them.
    """
    if not _is_array(out) or np.ndim(_value(found)) > out.ndim:
        return None
    run = loop_for(ufunc, inputs, out, options, always)
    if run is None:
        return None
    args = (*inputs, out if options.get("where", True) is not True else np.array(_value(out)))
    values = run(*map(_value, args))
    if np.shape(_value(found)) != out.shape:
        found = np.broadcast_to(found, out.shape)
    with np.errstate(all="ignore"):  # as above
        known = np.asarray(_value(found), values.dtype)
    return None if values.tobytes() == known.tobytes() else (found, values, run, args)


def with_values_for(ufunc, part, inputs, out, options):
    """A real result with the values that NumPy's loop gives for an ``out=``; see `by_loop`."""
    other = by_loop(ufunc, part, inputs, out, options, ufunc.signature is not None)
    if other is None:
        return part
    part, values, run, args = other
    return with_values_of(f"np.{ufunc.__name__} with out=", run, args, part, values) if holds_active(part) else values
