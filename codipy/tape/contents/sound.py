# SPDX-License-Identifier: Apache-2.0
"""Verify that plain contents are a recording: whatever they say, sweeps over it stay inside of its memory.

Every number is compared before anything is made of it, in Python's integers, which do not overflow. What the rules of a
primitive do with wrong values is theirs: they are NumPy.
"""
from __future__ import annotations

from bisect import bisect_left
from math import prod
from typing import NamedTuple

import numpy as np

from codipy.errors import CorruptTape
from codipy.tape.checks.check import READERS, check_statements
from codipy.tape.contents.contents import Calling, Choosing, Expression, Input, Movement, Summation
from codipy.tape.contents.renumbered import argument_slots, result_slots
from codipy.tape.strategies.table import STRATEGIES, stored_as

MOST_IDENTIFIERS = 2**31 - 2
MOST_DIMS, MOST_CHOICES = 8, 3
FAR = 2**40              # no stride, and no extent along one dimension, is as long: so sums of eight fit 64 bits
_FIELDS = {
    "jacobian": [["f8", "i4"], ["u1"]],
    "jacobian-reuse": [["f8", "i4"], ["u1", "i4"]],
    "primal": [["f8"], ["i4"], ["i4"]],
    "primal-reuse": [["f8"], ["i4"], ["i4", "i4", "f8"]],
    "simple": [["f8"], ["i4"], ["i4"]],
}


class Range(NamedTuple):
    """What a step takes in the streams: `statements` before it, as check.py asks for."""

    statements: int
    before: int
    after: int


def scalars_of(contents):
    """What the scalar statements of contents name.

    Parameters
    ----------
    contents : Contents
        Sound ones.

    Returns
    -------
    counts, arguments, results : ndarray
        How many arguments each statement has; identifiers of all arguments, and of the results.
    """
    kind = stored_as(contents.parameters["strategy"]).removesuffix("-reuse")
    ranges = [Range(step.place[-1], step.before, step.after) for step in contents.steps]
    return READERS[kind](contents.streams, contents.largest, ranges)[1:]


def demand_sound(contents):
    """Verify contents.

    Parameters
    ----------
    contents : Contents
        Whose numbers are integers and floats of Python, and whose arrays are NumPy's.

    Raises
    ------
    CorruptTape
        Naming the broken invariant, and the record by its number.
    """
    strategy = contents.parameters["strategy"]
    _demand(strategy in STRATEGIES, "the strategy is one that keeps a recording")
    strategy = stored_as(strategy)
    kind, largest = strategy.removesuffix("-reuse"), contents.largest
    reuse, keeps_values = kind != strategy, kind in ("primal", "simple")
    _demand(0 <= largest <= MOST_IDENTIFIERS, "identifiers fit into 32 bits")
    _check_fields(contents.streams, _FIELDS[strategy])
    counts = tuple(len(fields[0]) for fields in contents.streams)
    ranges = _ranges(contents, counts)
    needs, named, arguments, results = READERS[kind](contents.streams, largest, ranges)
    _check_places(contents, counts, needs)
    check_statements(strategy, named, arguments, results, largest)
    _check_primals(contents, kind, needs, arguments, results)
    _demand(reuse or not contents.inputs, "inputs are listed where identifiers are reused")
    _demand(all(1 <= i <= largest for i in contents.inputs), "inputs were handed out by the identifier manager")
    for number, step in enumerate(contents.steps):
        try:
            _CHECKS[type(step)](step, keeps_values)
        except CorruptTape as error:
            raise CorruptTape(f"{error}, at record {number}") from None
    if not reuse:
        _check_blocks(contents, results)
        _check_spots(contents, ranges)


def extent(first, shape, strides, most=MOST_DIMS):
    """The lowest and the highest of the numbers that a view names.

    Parameters
    ----------
    first : int
        That of its first element.
    shape, strides : sequence of int
    most : int
        Dimensions at most.

    Returns
    -------
    tuple of int
        Where no element is, the second is smaller.
    """
    _demand(len(shape) == len(strides) <= most, f"there are as many strides as dimensions, {most} at most")
    ways = [(n - 1) * stride for n, stride in zip(shape, strides) if n]
    _demand(all(0 <= n < FAR for n in shape) and all(-FAR < way < FAR for way in (*strides, *ways)),
            "shapes and strides are within the memory")
    if 0 in shape:
        return first, first - 1
    return first + sum(way for way in ways if way < 0), first + sum(way for way in ways if way > 0)


def _demand(holds, invariant):
    if not holds:
        raise CorruptTape(f"the recording breaks the invariant: {invariant}")


def _check_fields(streams, expected):
    _demand(len(streams) == len(expected), "there are the streams of the strategy")
    for fields, dtypes in zip(streams, expected):
        _demand([field.dtype for field in fields] == [np.dtype(dtype) for dtype in dtypes],
                "the fields of a stream have the types of the strategy")
        _demand(all(field.ndim == 1 and len(field) == len(fields[0]) for field in fields),
                "the fields of a stream have one length")


def _ranges(contents, counts):
    """What the steps take, once their places are known to be in order."""
    place, last = (0,) * len(counts), 0
    found = []
    for number, step in enumerate(contents.steps):
        _check_place(step.place, place, counts, f"record {number}")
        _demand(last <= step.before <= step.after, f"record {number} takes identifiers that were not taken before")
        place, last = step.place, step.after
        found.append(Range(step.place[-1], step.before, step.after))
    _demand(last <= contents.largest, "the records' identifiers were handed out by the identifier manager")
    place = (0,) * len(counts)
    records = 0
    for spot in contents.spots:
        _check_place(spot.place, place, counts, "a position")
        _demand(records <= spot.records <= len(contents.steps), "positions follow one another")
        records, place = spot.records, spot.place
        before = contents.steps[records - 1].place if records else (0,) * len(counts)
        after = contents.steps[records].place if records < len(contents.steps) else counts
        _demand(all(a <= b <= c for a, b, c in zip(before, place, after)), "a position is between its records")
        _demand(0 <= spot.largest <= contents.largest, "a position's identifiers were handed out")
    return found


def _check_place(place, earlier, counts, what):
    _demand(len(place) == len(counts) and all(a <= b <= c for a, b, c in zip(earlier, place, counts)),
            f"the place of {what} is in the streams, and not before that of the one before it")


def _check_places(contents, counts, needs):
    """The items of each stream are those that the statements need, and no place cuts one."""
    statements = counts[-1]
    places = np.array([step.place for step in (*contents.steps, *contents.spots)], np.int64).reshape(-1, len(counts))
    for level, need in enumerate(needs):
        _demand(len(need) == statements, "each statement has its items")
        done = np.concatenate([[0], np.cumsum(need, dtype=np.int64)])
        _demand(statements == 0 or need.min() >= 0, "no statement has fewer items than none")
        _demand(done[-1] == counts[level], f"the statements need the {counts[level]} items of stream {level}")
        _demand(np.all(done[places[:, -1]] == places[:, level]), "no place is in the middle of a statement")


def _check_blocks(contents, results):
    """Where identifiers are linear, an array has those that one record took: passes move them together.

    A number that a record gives has such a one, or that of a statement.
    """
    taken = [step for step in contents.steps if step.before < step.after]
    before = [step.before for step in taken]
    at = np.searchsorted(before, results) - 1
    ends = np.array([0, *(step.after for step in taken)])
    _demand(np.all(results > ends[at + 1]), "a statement has an identifier that no record took")
    numbers = {}
    for record, step in enumerate(contents.steps):
        # A movement has a source for each element, whose runs may go on from one array to the next.
        given, asked = result_slots(step), [] if isinstance(step, Movement) else argument_slots(step)
        for k, slots in enumerate((*given, *asked)):
            lowest, highest = extent(*slots)
            at = bisect_left(before, lowest) - 1
            if highest < lowest or at >= 0 and highest <= taken[at].after:
                continue
            _demand(lowest == highest, f"an array has identifiers that one record took, at record {record}")
            if k < len(given):
                numbers[lowest] = record
    lost = [numbers[n] for n in set(numbers).difference(results[np.isin(results, list(numbers))].tolist())]
    first = min(lost, default=None)
    _demand(not lost, f"a number that a record gives has an identifier of a statement, at record {first}")


def _check_spots(contents, ranges):
    """Where identifiers are linear, the largest at a position follows from what is before it."""
    for spot in contents.spots:
        last = ranges[spot.records - 1] if spot.records else Range(0, 0, 0)
        if contents.parameters["strategy"] != "simple":      # whose inputs are no statements
            _demand(spot.largest == last.after + spot.place[-1] - last.statements,
                    "a position has as many identifiers as statements before it")


def _check_primals(contents, kind, needs, arguments, results):
    """Sweeps read the value of each scalar by its identifier."""
    known = len(contents.primals)
    _demand(contents.primals.dtype == np.float64 and contents.primals.ndim == 1, "values by identifier are doubles")
    _demand(known <= contents.largest + 1, "identifiers that have a value were handed out")
    if kind != "primal":
        return
    handles = contents.streams[-1][0]
    read = arguments[np.repeat(handles > 0, needs[1])]       # not of copies of elements, and of handmade statements
    _demand(max(read.max(initial=0), results.max(initial=0), *contents.inputs, 0) < max(known, 1),
            "every identifier of a scalar has a primal value")


# ---- Records ----

_KNOWN = "the identifiers that it names were handed out before its end"


def _named(step, first, shape, strides):
    """Identifiers that a record names."""
    lowest, highest = extent(first, shape, strides)
    _demand(lowest > highest or lowest >= 1 and highest <= step.after, _KNOWN)
    _demand(0 <= first <= MOST_IDENTIFIERS, "identifiers fit into 32 bits")


def _check_expression(step, keeps_values):
    _demand(len(step.operands) == step.program.operands, "its program has as many operands")
    _demand(prod(step.shape) < FAR, "shapes and strides are within the memory")
    if step.sums:
        _demand(step.sums > 0, "there are sums")
        _named(step, step.result, (step.sums,), (1,))
        _check_sums(step.shape, step.strides, step.sums)
    else:
        _named(step, step.result, step.shape, step.strides)
    for operand in step.operands:
        _demand(operand.identifier >= 0, "identifiers are not negative")
        if operand.identifier:
            _named(step, operand.identifier, step.shape, operand.strides)
        lowest, highest = extent(0, step.shape, operand.strides)
        if isinstance(operand.values, float):
            scalar = keeps_values and not operand.identifier      # which a replay reads with the strides
            _demand(not scalar or not any(operand.strides), "a number is broadcast")
        else:
            buffer, offset = operand.values
            _demand(0 <= offset <= buffer.size, "values are in their memory")
            _demand(lowest > highest or 0 <= offset + lowest <= offset + highest < buffer.size,
                    "values are in their memory")


def _check_movement(step, keeps_values):
    _demand(step.size >= 0, "a movement has no fewer elements than none")
    _named(step, step.result, (step.size,), (1,))
    sources = step.sources.astype(np.int64)
    if step.runs:
        _demand(sources.ndim == 1 and len(sources) % 2 == 0 and len(sources), "runs are pairs")
        firsts, lengths = sources[::2], sources[1::2]
        _demand(np.all(lengths >= 0), "runs have lengths")
    else:
        firsts, lengths = sources, np.ones(len(sources), np.int64)
    _demand(lengths.sum() == step.size, "a movement has a source for each element")
    _demand(np.all(firsts >= 0) and np.all((firsts == 0) | (firsts + lengths - 1 <= step.after)),
            _KNOWN)
    passive = lengths[firsts == 0].sum()
    _demand(len(step.constants) == passive if step.constants is not None else not (keeps_values and step.size),
            "a movement has the values of its passive elements where it can be computed again")


def _check_choosing(step, keeps_values):
    size = prod(step.shape)
    extent(0, step.shape, (0,) * len(step.shape))
    _named(step, step.result, (size,), (1,))
    _demand(len(step.operands) <= MOST_CHOICES, f"a choice is among {MOST_CHOICES} operands at most")
    _demand(step.chosen.shape == (size,) and step.chosen.dtype == np.uint8, "each element is chosen")
    for operand in step.operands:
        if operand.identifier:
            _named(step, operand.identifier, step.shape, operand.strides)
        _demand(operand.identifier >= 0, "identifiers are not negative")
        extent(0, step.shape, operand.strides)


def _check_summation(step, keeps_values):
    _named(step, *step.argument)
    _demand(step.size >= 0, "there are no fewer sums than none")
    _named(step, step.result, (step.size,), (1,))
    _check_sums(step.argument.shape, step.strides, step.size)


def _check_sums(shape, strides, size):
    """Along the axes that stay, where the stride is not 0, there are as many sums as elements."""
    _demand(len(shape) == len(strides), "there are as many strides as dimensions")
    stay = [(n, stride) for n, stride in zip(shape, strides) if stride]
    lowest, highest = extent(0, *zip(*stay)) if stay else (0, 0)
    _demand(lowest >= 0 and highest < max(size, 1) and prod(n for n, _ in stay) == size,
            "its elements are summed to its sums")


def _check_calling(step, keeps_values):
    parts = step.out if isinstance(step.out, tuple) else (step.out,)
    _demand(len(step.argnums) == len(step.arguments) and len(set(step.argnums)) == len(step.argnums) and all(
        0 <= i < len(step.args) for i in step.argnums), "its active arguments are among its arguments")
    _demand(len(parts) == len(step.results), "its results have identifiers, or none")
    for slots, value in [*zip(step.arguments, [step.args[i] for i in step.argnums]), *zip(step.results, parts)]:
        if slots is not None:
            _named(step, *slots)
            _demand(prod(slots.shape) <= step.after, "each element of a call has an identifier of its own")
            _demand(np.shape(value) == tuple(slots.shape), "values and identifiers have one shape")
            _demand(isinstance(value, (float, np.ndarray, np.floating)), "what is active is a number or an array")
    if getattr(step.primitive, "product", False):
        _check_product(step)


def _check_product(step):
    shapes = [np.shape(value) for value in step.args]
    if len(shapes) != 2 or not shapes[0] or not shapes[1] or len(step.results) != 1 or step.results[0] is None:
        return
    (*rows, inner), other = shapes[0], shapes[1]
    columns = other[-1:] if len(other) > 1 else ()
    _demand(inner == other[-2 if len(other) > 1 else 0], "matrices that are multiplied fit")
    if step.primitive.name == "matmul":
        stack, rows = (rows[:-1], rows[-1:]) if rows else ((), ())
        try:
            rows = (*np.broadcast_shapes(tuple(stack), other[:-2]), *rows)
        except ValueError:
            _demand(False, "matrices that are multiplied fit")
    else:
        rows = (*rows, *other[:-2])
    _demand(step.results[0].shape == (*rows, *columns), "a product has the shape of a product")


def _check_input(step, keeps_values):
    size = step.after - step.before
    _demand(step.first == (step.before + 1 if size else 0), "an input has new identifiers")
    for buffer in (step.values, step.last):
        _demand(buffer.size == size if buffer is not None else not keeps_values, "an input has its values")


_CHECKS = {
    Calling: _check_calling, Choosing: _check_choosing, Expression: _check_expression, Input: _check_input,
    Movement: _check_movement, Summation: _check_summation,
}
