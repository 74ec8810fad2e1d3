# SPDX-License-Identifier: Apache-2.0
"""Verify the invariants of a recording by reading the streams' own bytes, slowly and independently of the sweeps."""
import re

import numpy as np

from codipy.data import Regions
from codipy.errors import CorruptTape
from codipy.operations import TABLE
from codipy.programs.program import describe
from codipy.tape.checks.records import check_records, steps_of
from codipy.tape.strategies.table import stored_as

_INPUT_TAG = 255         # argument count that marks an input (jacobian.pxd)
_ELEMENT = -1            # handle of an array element's copy (primal.pyx)
_HANDMADE = -1           # handles below: statements made by hand


def check(tape, origin):
    """Verify every invariant of a recording.

    Parameters
    ----------
    tape : BaseTape
        The tape; it is only read, and may be recording on this thread.
    origin : Position
        Where the recording began: the origin of its streams.

    Raises
    ------
    CorruptTape
        Naming the broken invariant.
    """
    store, identifiers = tape.store, tape._identifiers
    store.root._check()
    try:
        identifiers._check()
    except AssertionError as error:
        raise CorruptTape(str(error)) from error
    if not store.streams:        # nothing is recorded
        slots = tape.adjoint_vector.slots
        _demand(not any(map(identifiers.uses_of, range(slots, identifiers.largest + 1))), "what is alive has tangents")
        return
    fields = [_whole(stream) for stream in store.streams]
    strategy = stored_as(tape.strategy)
    kind = strategy.removesuffix("-reuse")
    steps = steps_of(tape)
    needs, counts, arguments, results = READERS[kind](fields, identifiers.largest, steps)
    _check_counts(store, origin, needs)
    check_records(tape, steps, origin, identifiers.largest)
    check_statements(strategy, counts, arguments, results, identifiers.largest)
    if kind == "primal":
        values = tape._primal_vector_bytes[1] // 8
        # Elements of arrays have no value here: an argument may be one.
        of_arrays = steps or strategy.endswith("-reuse")
        largest = results.max(initial=0) if of_arrays else identifiers.largest
        _demand(largest == 0 or values > largest, "every identifier has a primal value")


def check_statements(strategy, counts, arguments, results, largest):
    """Verify what holds for the identifiers of scalar statements in every strategy.

    Parameters
    ----------
    strategy : str
        As `stored_as` says it.
    counts : ndarray
        How many arguments each statement has.
    arguments, results : ndarray
        Identifiers, as the statements name them.
    largest : int
        The largest identifier handed out.

    Raises
    ------
    CorruptTape
        Naming the broken invariant.
    """
    users = np.repeat(results, counts)
    lowest = 1 - (strategy == "simple")    # simple stores passive arguments too, as identifier 0
    _demand(np.all(arguments >= lowest), f"arguments are identifiers from {lowest} on")
    _demand(np.all(arguments <= largest), "arguments were handed out by the identifier manager")
    _demand(np.all(results >= 1), "no statement has the passive identifier 0 as its result")
    _demand(np.all(results <= largest), "results were handed out by the identifier manager")
    if strategy.endswith("-reuse"):
        # An argument outlives the push of its statement, so the result cannot have been given its identifier.
        _demand(np.all(arguments != users), "no argument shares the identifier of its own result")
    else:
        _demand(np.all(arguments < users), "arguments were created before the result of their statement")
        _demand(np.all(np.diff(results) > 0), "results grow with the statements")


def _demand(holds, invariant):
    if not holds:
        raise CorruptTape(f"the recording breaks the invariant: {invariant}")


def _whole(stream):
    """The fields of a stream, each joined over all chunks."""
    chunks = [stream.chunk_views(i) for i in range(stream.chunks)]
    return [np.concatenate([chunk[k] for chunk in chunks] or [np.empty(0, dtype)])
            for k, dtype in enumerate(stream.dtypes)]


def _check_counts(store, origin, needs):
    """Per region, the items of every stream are those that the region's statements need, and none is left over."""
    done = [0] * len(needs)
    for number, spans in enumerate(list(Regions(store.root, origin, store.root.position()).forward())):
        statements = slice(done[-1], done[-1] + spans[-1][2] - spans[-1][1])
        for level, (stream, (_, begin, end)) in enumerate(zip(store.streams, spans)):
            _demand(needs[level][statements].sum() == end - begin,
                    f"the statements of region {number} need the {end - begin} items it has in {stream.name!r}")
            done[level] += end - begin
    for stream, count in zip(store.streams, done):
        _demand(count == stream.items, f"the regions cover all items of {stream.name!r}")


# ---- What a strategy stores: items of a statement in each stream (root first), counts of arguments, these, results

def _read_jacobian(fields, largest, steps):
    (_, arguments), (counts, *reused) = fields
    counts = counts.astype(np.int64)
    if reused:
        _demand(not np.any(counts == _INPUT_TAG), "inputs are no statements where identifiers are reused")
    counts[counts == _INPUT_TAG] = 0
    results = reused[0] if reused else _in_order(len(counts), largest, steps)
    return [counts, np.ones_like(counts)], counts, arguments, results


def _read_primal(fields, largest, steps):
    _, (arguments,), (handles, *reused) = fields
    distinct, which = np.unique(handles, return_inverse=True)
    leaves = np.array([_leaves(int(handle)) for handle in distinct], dtype=np.int64).reshape(-1, 2)[which]
    if reused:
        _demand(not np.any(handles == 0), "inputs are no statements where identifiers are reused")
    results = reused[0] if reused else _in_order(len(handles), largest, steps)
    return [leaves[:, 1], leaves[:, 0], np.ones_like(leaves[:, 0])], leaves[:, 0], arguments, results


def _in_order(statements, largest, steps):
    """The statements' identifiers where each has the next one, and records take theirs between them."""
    results, done, last = [], 0, 0
    for number, step in enumerate(steps):
        _demand(last + step.statements - done == step.before,
                f"there are as many identifiers as statements before record {number}")
        results.append(np.arange(last + 1, step.before + 1))
        done, last = step.statements, step.after
    _demand(last + statements - done == largest, "there are as many identifiers as statements")
    return np.concatenate([*results, np.arange(last + 1, largest + 1)])


def _leaves(handle):
    """Active arguments and passive constants of a program handle."""
    if handle == _ELEMENT:
        return 1, 1
    if handle < _HANDMADE:
        return _HANDMADE - handle, _HANDMADE - handle + 1
    try:
        text = describe(handle)
    except ValueError as error:
        raise CorruptTape(f"a statement names an unknown program: {error}") from error
    _demand("(" in text or text == "input", f"handle {handle} is a statement's program, not a bare leaf")
    return len(re.findall(r"\bu\d+\b", text)), len(re.findall(r"\bc\d+\b", text))


_BARE = (1 << 29) - 1  # an operation's code without the flags that programs/program.pxd adds


def _read_simple(fields, largest, steps):
    _, (identifiers,), (codes,) = fields
    _demand(np.all(codes >= 0), "operator codes are codes of the table or count the arguments of a handmade statement")
    codes = codes & _BARE
    arities = np.array([row.arity for row in TABLE], dtype=np.int64)
    counts = np.where(codes < len(TABLE), arities[np.minimum(codes, len(TABLE) - 1)], codes - len(TABLE))
    ends = np.cumsum(counts + 1) - 1
    _demand(len(ends) == 0 or ends[-1] == len(identifiers) - 1, "every operation has its arguments and its result")
    is_result = np.zeros(len(identifiers), dtype=bool)
    is_result[ends] = True
    return [counts, counts + 1, np.ones_like(counts)], counts, identifiers[~is_result], identifiers[is_result]


READERS = {"jacobian": _read_jacobian, "primal": _read_primal, "simple": _read_simple}
