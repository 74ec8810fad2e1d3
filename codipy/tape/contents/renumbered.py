# SPDX-License-Identifier: Apache-2.0
"""The records of plain contents as passes see them: which identifiers they name, and the same with others."""
from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from codipy.data.plain import array_on
from codipy.errors import CorruptTape
from codipy.tape.contents.contents import Calling, Choosing, Expression, Movement, Summation, Values
from codipy.tape.contents.entry import Slots

__all__ = ["argument_slots", "content_of", "given_by", "is_alike", "numbers_of", "read_by", "renumbered",
           "result_slots"]


def numbers_of(slots):
    """The identifiers of some Slots, each once, in one axis."""
    found = np.array([slots.first], np.int64)
    for n, step in zip(slots.shape, slots.strides):
        if n == 0:
            return np.zeros(0, np.int64)
        if step:
            found = (found[:, None] + np.arange(n) * step).reshape(-1)
    return found


def result_slots(step):
    """The Slots of what a record sets."""
    if type(step) is Expression:
        return [Slots(step.result, (step.sums,), (1,)) if step.sums else Slots(step.result, step.shape, step.strides)]
    if type(step) is Movement or type(step) is Summation:
        return [Slots(step.result, (step.size,), (1,))]
    if type(step) is Choosing:
        return [Slots(step.result, (math.prod(step.shape),), (1,))]
    if type(step) is Calling:
        return [slots for slots in step.results if slots is not None]
    return [Slots(step.first, (step.after - step.before,), (1,))]


def argument_slots(step):
    """The Slots of the active arguments of a record."""
    if type(step) is Expression or type(step) is Choosing:
        return [Slots(x.identifier, step.shape, x.strides) for x in step.operands if x.identifier]
    if type(step) is Movement:
        firsts, lengths = _runs(step)
        return [Slots(int(first), (int(n),), (1,)) for first, n in zip(firsts, lengths) if first]
    if type(step) is Summation:
        return [step.argument]
    return step.arguments if type(step) is Calling else []


def given_by(step):
    """The identifiers of what a record sets: an array for each result, where each stands once."""
    return [numbers_of(slots) for slots in result_slots(step)]


def read_by(step):
    """The identifiers of the active arguments of a record, an array for each argument; of a movement all together."""
    if type(step) is Movement:
        firsts, lengths = _runs(step)
        active = firsts > 0
        firsts, lengths = firsts[active], lengths[active]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return [np.repeat(firsts, lengths) + within]
    return [numbers_of(slots) for slots in argument_slots(step)]


def renumbered(step, arguments, results, place, before, after):
    """The same record with other identifiers.

    Parameters
    ----------
    step : Step
    arguments, results : ndarray of int
        By identifier, the new one: of what is read, and of what is set.
    place, before, after
        See `Step`.

    Returns
    -------
    Step
    """
    common = {"place": place, "before": before, "after": after}
    if type(step) is Expression:
        return replace(step, **common, result=_moved(result_slots(step)[0], results).first,
                       operands=[_operand(x, step.shape, arguments) for x in step.operands])
    if type(step) is Movement:
        firsts, lengths = _runs(step)
        sources = _joined([arguments[first:first + n] if first else np.zeros(n, np.int64)
                           for first, n in zip(firsts.tolist(), lengths.tolist())])
        return replace(step, **common, result=_moved(result_slots(step)[0], results).first, **_in_runs(sources))
    if type(step) is Choosing:
        return replace(step, **common, result=_moved(result_slots(step)[0], results).first,
                       operands=[_operand(x, step.shape, arguments) for x in step.operands])
    if type(step) is Summation:
        return replace(step, **common, argument=_moved(step.argument, arguments),
                       result=_moved(result_slots(step)[0], results).first)
    if type(step) is Calling:
        return replace(step, **common, arguments=[_moved(slots, arguments) for slots in step.arguments],
                       results=[slots if slots is None else _moved(slots, results) for slots in step.results])
    return replace(step, **common, first=before + 1 if after > before else 0)


def content_of(step, arguments):
    """What tells a record from others cheaply: None where nothing is known to be equal to it.

    Records of one content differ in `place`, in their identifiers, and perhaps in values: see `is_alike`.
    """
    if type(step) is Expression:
        return (Expression, id(step.program), step.shape, step.strides, step.sums, step.scale,
                tuple(_key(x, arguments) for x in step.operands))
    if type(step) is Movement:
        constants = None if step.constants is None else step.constants.tobytes()
        firsts, lengths = _runs(step)
        return (Movement, arguments[firsts].tobytes(), lengths.tobytes(), constants)
    if type(step) is Choosing:
        return (Choosing, step.shape, tuple(_key(x, arguments) for x in step.operands), step.chosen.tobytes())
    if type(step) is Summation:
        first, shape, strides = step.argument
        return (Summation, int(arguments[first]), shape, strides, step.strides, step.size, step.scale, step.single)
    if type(step) is Calling:
        kept = _plain((step.args, step.kwargs, step.out))
        return None if kept is None else (
            Calling, id(step.primitive), step.argnums, step.single, kept,
            tuple((int(arguments[first]), shape, strides) for first, shape, strides in step.arguments),
            tuple(slots if slots is None else slots[1:] for slots in step.results))
    return None


def is_alike(step, other):
    """Whether two records of one content have the same values as well, to the bit, and results that lie alike."""
    if any(a[1:] != b[1:] for a, b in zip(result_slots(step), result_slots(other))):
        return False
    if type(step) is Expression:
        pairs = zip(step.operands, other.operands)
        return all(_same_values(a.values, b.values, step.shape, a.strides) for a, b in pairs)
    if type(step) is Calling:
        return all(map(_same_array, _arrays((step.args, step.kwargs, step.out)),
                       _arrays((other.args, other.kwargs, other.out))))
    return True


def _runs(step):
    """First identifiers and lengths of a movement's runs; 0 is passive."""
    sources = step.sources.astype(np.int64)
    return (sources[::2], sources[1::2]) if step.runs else (sources, np.ones(len(sources), np.int64))


def _in_runs(sources):
    """The sources of a movement as it stores them."""
    if not len(sources):
        return {"sources": np.zeros(0, np.int32), "runs": False}
    goes_on = np.where(sources[:-1] == 0, sources[1:] == 0, np.diff(sources) == 1)
    begins = np.flatnonzero(np.concatenate([[True], ~goes_on]))
    if 2 * len(begins) > len(sources):
        return {"sources": sources.astype(np.int32), "runs": False}
    lengths = np.diff(np.concatenate([begins, [len(sources)]]))
    return {"sources": np.stack([sources[begins], lengths], axis=1).reshape(-1).astype(np.int32), "runs": True}


def _joined(parts):
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _operand(x, shape, new):
    return x._replace(identifier=_moved(Slots(x.identifier, shape, x.strides), new).first) if x.identifier else x


def _moved(slots, new):
    """The same Slots with new identifiers, which lie as the old ones did."""
    old = numbers_of(slots)
    if not len(old):
        return slots          # names nothing
    first = int(new[slots.first])
    if first < 1 or not np.array_equal(new[old], old + (first - slots.first)):
        raise CorruptTape("the recording breaks the invariant: the identifiers of a view keep their distances")
    return slots._replace(first=first)


def _key(x, arguments):
    """What tells an operand from others, without the values of an array."""
    values = x.values
    number = np.float64(values).tobytes() if isinstance(values, float) else type(values)
    return int(arguments[x.identifier]) if x.identifier else 0, x.strides, number


def _same_values(a, b, shape, strides):
    """Whether two operands, known to have one kind of values, read the same."""
    if type(a) is not Values:
        return True
    if a.buffer is b.buffer and a.offset == b.offset:
        return True
    return _same_array(array_on(a.buffer, a.offset, shape, strides), array_on(b.buffer, b.offset, shape, strides))


def _same_array(a, b):
    """Whether two arrays of one shape and dtype have the same bytes; those that share their memory do."""
    same = a.__array_interface__["data"] == b.__array_interface__["data"] and a.strides == b.strides
    return same or a.tobytes() == b.tobytes()


def _plain(tree):
    """A key for what a call got, gave or was told, arrays by form alone; None where something is of another kind."""
    if isinstance(tree, (tuple, list)):
        parts = [_plain(item) for item in tree]
        return None if any(part is None for part in parts) else (type(tree), *parts)
    if isinstance(tree, dict):
        return _plain((list(tree), list(tree.values())))
    if isinstance(tree, np.ndarray):
        return None if tree.dtype.hasobject else (np.ndarray, tree.shape, tree.dtype.str)
    if isinstance(tree, (float, np.generic)):
        return type(tree), np.asarray(tree).tobytes()
    return (type(tree), tree) if tree is None or isinstance(tree, (bool, int, str)) else None


def _arrays(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (tuple, list)):
        return [array for item in tree for array in _arrays(item)]
    return [tree] if isinstance(tree, np.ndarray) else []
