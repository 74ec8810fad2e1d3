# SPDX-License-Identifier: Apache-2.0
"""One statement of a recording for those who look at it: what it names, what it was given, how it is written."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from codipy.programs.written import written

__all__ = ["Entry", "Operand", "Slots"]


class Slots(NamedTuple):
    """Identifiers of a number or an array: element [i, j] has ``first + i * strides[0] + j * strides[1]``.

    Attributes
    ----------
    first : int
    shape, strides : tuple of int
        Strides in identifiers.
    """

    first: int
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    def of_sum(self):
        """Those of a sum, where these have its argument's shape: an axis that is summed has stride 0."""
        kept = [k for k, stride in enumerate(self.strides) if stride]
        return Slots(self.first, tuple([self.shape[k] for k in kept]), tuple([self.strides[k] for k in kept]))

    def identifiers(self):
        """All of them, an array of the shape."""
        found = np.full(self.shape, self.first, np.int64)
        for axis, stride in enumerate(self.strides):
            steps = np.arange(self.shape[axis]) * stride
            found += steps.reshape([-1 if k == axis else 1 for k in range(len(self.shape))])
        return found

    def __str__(self):
        found = self.identifiers() if self.shape else None
        if found is None:
            return f"#{self.first}"
        if not found.size:
            return "#none"
        low, high = found.min(), found.max()
        return f"#{low}" if low == high else f"#{low}..#{high}"


class Operand(NamedTuple):
    """What a statement was given.

    Attributes
    ----------
    slots : Slots or None
        None of what is passive.
    value : float, ndarray or other, or None
        None where the tape does not keep it.
    jacobian : float, ndarray or None
        The partial of the result, None where none is kept or computed.
    """

    slots: Slots | None
    value: Any = None
    jacobian: Any = None


class Entry(NamedTuple):
    """A statement, an array's or a number's.

    Attributes
    ----------
    kind : str
        'input', 'statement', 'place' (the name of the number that the next statement gives), 'handmade', 'element',
        'sum', 'movement', 'choice', 'call' or 'record', one of the user's.
    results : tuple of Slots or None
        None of a result that has no derivative.
    operands : tuple of Operand
    value : float, ndarray or None
        Of the result, where the tape keeps it.
    steps : list or None
        Of the expression, see `codipy.programs.written`; None where none is known.
    name : str
        Of a primitive, or what else is done.
    record : Record or None
        That of an array.
    """

    kind: str
    results: tuple
    operands: tuple = ()
    value: Any = None
    steps: list | None = None
    name: str = ""
    record: Any = None

    def text(self, leaves):
        """What is done, with a text for each operand."""
        if self.steps is not None:
            text = written(leaves, self.steps)
            return f"{self.name}({text})" if self.name else text
        if self.name:
            return f"{self.name}({', '.join(leaves)})"
        return " + ".join(leaves) or "0"
