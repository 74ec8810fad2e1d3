# SPDX-License-Identifier: Apache-2.0
"""A recording as text, one statement a line."""
from __future__ import annotations

import numpy as np

from codipy.errors import TapeError
from codipy.tape.display.entries import entries
from codipy.tape.provenance.lines import lines_of

__all__ = ["brief", "dump", "leaves", "limited", "named"]

_EDGE = 3      # numbers of an array at either end that are written
_MOST = 4      # operands of a movement that are written


def dump(tape, limit):
    """The text; see ``Tape.dump``."""
    found = limited(tape, limit, "dump")
    rows = [_row(entry) for entry in found]
    width = max((len(results) for results, _ in rows), default=0)
    head = f"tape of strategy {tape.strategy!r}, granularity {tape.granularity!r}: {tape.statements} statements"
    return "\n".join([head, *(f"{results:>{width}} = {text}{line}"
                              for (results, text), line in zip(rows, _lines(tape, found)))])


def _lines(tape, found):
    """What is said of the line of each entry: something where the tape is being profiled."""
    statements, records = lines_of(tape)
    if statements is None:
        return [""] * len(found)
    nowhere = len(found) - len(statements) - len(records)      # inputs that have no statement come first
    ways = {False: iter([""] * nowhere + statements), True: iter(records)}
    lines = [next(ways[entry.record is not None]) for entry in found]
    return [line and f"  [{line}]" for line in lines]


def limited(tape, limit, name):
    """The entries of a tape that has no more than so many statements, else an error that says what to do."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit must be a positive int, got {limit!r}")
    tape.demand_readable(f"{name}()")
    if tape.statements > limit:
        raise TapeError(f"{name}() of {tape.statements} statements: {name}(limit={tape.statements}) takes them all, "
                        "or record less, of a smaller problem")
    return entries(tape)


def named(results):
    """The text of what a statement makes."""
    return ", ".join("-" if slots is None else str(slots) for slots in results)


def leaves(entry):
    """A text for each operand: identifiers, or what is passive."""
    if entry.steps is None and any(operand.jacobian is not None for operand in entry.operands) and not entry.name:
        return [f"{brief(operand.jacobian)}*{operand.slots}" for operand in entry.operands]
    texts = [str(operand.slots) if operand.slots is not None else brief(operand.value) for operand in entry.operands]
    if entry.kind == "movement" and len(texts) > _MOST:
        texts[_MOST - 1:-1] = [f"... {len(texts) - _MOST} more"]
    return texts


def _row(entry):
    shape = entry.results[0].shape if len(entry.results) == 1 and entry.results[0] is not None else ()
    if entry.kind in ("input", "place"):
        text = "input" if entry.kind == "input" else "a number, which the next statement gives"
    else:
        text = entry.text(leaves(entry)) + ("  (by hand)" if entry.kind == "handmade" else "")
    text += f"  of shape {shape}" if shape else ""
    text += f"  is {brief(entry.value)}" if entry.value is not None else ""
    if entry.value is None or shape:
        known = {str(operand.slots): brief(operand.value) for operand in entry.operands
                 if operand.slots is not None and operand.value is not None}
        text += "".join(f", {slots} is {value}" for slots, value in known.items()).replace(",", "  where", 1)
    return named(entry.results), text


def brief(value):
    """A value in few letters; '?' where the tape does not keep it."""
    if value is None:
        return "?"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(brief, value))})"
    if isinstance(value, np.ndarray) and value.ndim:
        if value.dtype.kind not in "biuf":
            return f"array of {value.dtype}"
        flat = value.ravel() if value.size <= 2 * _EDGE else np.concatenate(
            [value.flat[:_EDGE], value.flat[value.size - _EDGE:]])
        numbers = [_number(x) for x in flat]
        if value.size > 2 * _EDGE:
            numbers.insert(_EDGE, "...")
        return f"[{', '.join(numbers)}]" if value.ndim == 1 else f"{value.shape}[{', '.join(numbers)}]"
    if isinstance(value, (float, int, np.generic, np.ndarray)):
        return _number(value)
    text = repr(value)
    return text if len(text) <= 40 else f"{type(value).__name__}"


def _number(x):
    return format(float(x), ".6g")
