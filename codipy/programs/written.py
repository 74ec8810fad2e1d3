# SPDX-License-Identifier: Apache-2.0
"""Expressions as people write them: `u*sin(v) + 2.0` of the steps of a program."""
from __future__ import annotations

from codipy.operations import TABLE

__all__ = ["written"]

_SIGNS = {"add": (" + ", 1), "subtract": (" - ", 1), "multiply": ("*", 2), "divide": ("/", 2), "power": ("**", 4)}
_NEGATIVE, _WHOLE = 3, 5      # how strongly a sign binds, and what needs no brackets
_CALLED = {"absolute": "abs", "single": "float32"}


def written(leaves, steps):
    """The text of an expression.

    Parameters
    ----------
    leaves : sequence of str
        What stands for each operand.
    steps : sequence of (int, sequence of int)
        Operation code and registers: first the operands, then one for each step.

    Returns
    -------
    str

    Examples
    --------
    >>> from codipy.operations import BY_NAME
    >>> add, sin, multiply = (BY_NAME[name].code for name in ("add", "sin", "multiply"))
    >>> written(["a", "b"], [(add, [0, 1]), (sin, [2]), (multiply, [3, 2])])
    'sin(a + b)*(a + b)'
    """
    texts = [(leaf, _NEGATIVE if leaf.startswith("-") else _WHOLE) for leaf in leaves]
    for code, sources in steps:
        texts.append(_step(TABLE[code].name, [texts[source] for source in sources]))
    return texts[-1][0]


def _step(name, parts):
    if name == "identity":
        return parts[0]
    if name == "negative":
        return "-" + _within(parts[0], _NEGATIVE), _NEGATIVE
    if name in _SIGNS:
        sign, binds = _SIGNS[name]
        left, right = parts
        # What is computed from left to right needs no brackets there; a power is computed from right to left.
        return _within(left, binds + (name == "power")) + sign + _within(right, binds + (name != "power")), binds
    return f"{_CALLED.get(name, name)}({', '.join(text for text, _ in parts)})", _WHOLE


def _within(part, binds):
    text, own = part
    return text if own >= binds else f"({text})"
