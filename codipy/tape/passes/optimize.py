# SPDX-License-Identifier: Apache-2.0
"""Passes over a recording: plain contents in, contents of a smaller recording out, with the same derivatives.

Scalar statements are merged and dropped one by one, records as a whole. Identifiers that a record names keep their
distances, since a view is named by its first one; all others may get any. Where identifiers are to serve again the new
recording is one of a reuse strategy, whose statements name their results.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from codipy.tape.checks.check import READERS
from codipy.tape.contents.contents import Contents, Input
from codipy.tape.contents.renumbered import (
    argument_slots,
    content_of,
    given_by,
    is_alike,
    numbers_of,
    read_by,
    renumbered,
    result_slots,
)
from codipy.tape.contents.sound import Range
from codipy.tape.passes.scalars import Statements, code_of_copy, exchanged
from codipy.tape.strategies.table import stored_as

__all__ = ["Passes", "Saved", "optimized"]

_INPUT_TAG = 255         # see jacobian.pxd
_SLOT = 8                # bytes of an identifier in an adjoint vector, ...
_IN_USE = 4              # ... in the table of reused ones ...
_RESULT = 4              # ... and in a statement that names it


class Passes(NamedTuple):
    """Which passes run.

    Attributes
    ----------
    dead : bool
        Drop what no output depends on.
    equal : bool
        Merge statements that compute the same from the same, and copies with what they copy.
    merge : bool
        Merge the arguments of a statement that are one variable, where statements store Jacobians.
    renumber : bool
        Let an identifier serve again when nobody reads its value any more.
    """

    dead: bool = True
    equal: bool = True
    merge: bool = True
    renumber: bool = True


class Saved(NamedTuple):
    """What each pass saved.

    Attributes
    ----------
    equal_statements, equal_records : int
        Merged with others, copies among them.
    merged_arguments : int
        Of scalar statements.
    dead_statements, dead_records : int
        That no output depends on.
    identifiers : int
        Fewer than before: as many slots of an adjoint vector.
    """

    equal_statements: int = 0
    equal_records: int = 0
    merged_arguments: int = 0
    dead_statements: int = 0
    dead_records: int = 0
    identifiers: int = 0


@dataclass
class Optimized:
    """A recording that passes made.

    Attributes
    ----------
    contents : Contents
        For `codipy.tape.contents.assemble.fill`.
    inputs, outputs : ndarray of int32
        By old identifier the new one, of what was an input and an output under it.
    saved : Saved
    """

    contents: Contents
    inputs: np.ndarray
    outputs: np.ndarray
    saved: Saved

    def then(self, other):
        """What another round has made of these contents, as made of those before."""
        return Optimized(other.contents, other.inputs[self.inputs], other.outputs[self.outputs],
                         Saved(*(a + b for a, b in zip(self.saved, other.saved))))


def optimized(contents, outputs, passes):
    """The recording without what its outputs do not need.

    Parameters
    ----------
    contents : Contents
        They are not changed.
    outputs : ndarray of int
        Identifiers at the end of the recording, whose derivatives are asked for.
    passes : Passes

    Returns
    -------
    Optimized
    """
    outputs = np.unique(np.asarray(outputs, np.int64))
    found = last = _Work(contents, outputs, passes).done()
    # What merges in one round may make records equal in the next, and what it drops gives identifiers back: the last
    # one finds nothing to merge or drop, so that passes over its result change nothing.
    while any(last.saved[:-1]):
        last = _Work(found.contents, np.unique(found.outputs[outputs]), passes).done()
        found = found.then(last)
    return found


class _Work:
    """One recording in one round of the passes."""

    def __init__(self, contents, outputs, passes):
        self.old, self.passes = contents, passes
        strategy = stored_as(contents.parameters["strategy"])
        self.kind, self.reused = strategy.removesuffix("-reuse"), strategy.endswith("-reuse")
        # Elements of arrays have values by identifier where these are linear, and statements of their own elsewhere.
        self.may_reuse = self.reused or passes.renumber and self.kind != "simple" and not (
            self.kind == "primal" and contents.steps)
        self.size = contents.largest + 1
        self.outputs = outputs[outputs > 0]
        self._read()
        self._pin()
        self.names, self.current = self.statements.rename(self.pinned)
        self.results_of = [given_by(step) for step in contents.steps]

    # ---- What is there ----

    def _read(self):
        """The statements, identifiers as they are."""
        old, streams = self.old, self.old.streams
        ranges = [Range(step.place[-1], step.before, step.after) for step in old.steps]
        needs, _, arguments, results = READERS[self.kind](streams, old.largest, ranges)
        codes = streams[-1][0]
        if self.kind == "jacobian":
            self.is_input, counts = (codes == _INPUT_TAG) & (not self.reused), needs[0]
            # An input is no constant, though neither has arguments.
            self.statements = Statements(self.is_input, counts, arguments, results, streams[0][0], counts)
        elif self.kind == "primal":
            self.is_input = (codes == 0) & (not self.reused)
            self.statements = Statements(codes, needs[1], arguments, results, streams[0][0], needs[0])
            primals = np.zeros(self.size)
            primals[:len(old.primals)] = old.primals
            self.values = (exchanged(results, streams[-1][2], primals, True) if self.reused else primals[results])
            self.before = primals      # with reuse: the values of inputs
        else:
            self.is_input = np.zeros(len(codes), bool)
            self.statements = Statements(codes, needs[0], arguments, results, streams[0][0], needs[0])
        self.results, self.is_read = results.astype(np.int64), np.zeros(self.size, bool)
        self.is_read[arguments] = True

    def _pin(self):
        """Which identifiers stay what they are, but for a shift; how often each is set."""
        self.pinned, self.sets = np.zeros(self.size, np.uint8), np.zeros(self.size, np.int64)
        self.pinned[0], spans = 1, np.zeros(self.size + 1, np.int64)
        for step in self.old.steps:
            for slots in (*result_slots(step), *argument_slots(step)):
                numbers = numbers_of(slots)
                if len(numbers):
                    spans[numbers.min()] += 1
                    spans[numbers.max() + 1] -= 1
            for ids in given_by(step):
                self.sets[ids] += 1
        self.named = np.cumsum(spans)[:-1] > 0
        self.pinned[self.named] = 1
        np.add.at(self.sets, self.results, 1)
        self.by_statement = np.zeros(self.size, bool)
        self.by_statement[self.results] = True
        self.taken_by = np.full(self.size, -1)      # records, whose block it is in
        for k, step in enumerate(self.old.steps):
            self.taken_by[step.before + 1:step.after + 1] = k
        self.is_unset = self.sets == 0       # inputs that are no statements, and places that nobody has
        self.is_unset[0] = False
        self.sets[self.old.inputs] += 1
        if self.reused and not self.passes.renumber:
            self.pinned[:] = 1
        elif self.may_reuse:
            self.pinned[self.old.inputs] = 1
            self.pinned[self.results[self.is_input]] = 1
            self.pinned[self.is_read & self.is_unset] = 1

    # ---- The passes ----

    def done(self):
        """The result, once and for all."""
        old = self.old
        self.aliases = np.arange(self.size)      # by identifier, that of an equal record's result
        self.record_kept = np.ones(len(old.steps), bool)
        equal_records = self._merge_records() if self.passes.equal else 0
        self.is_output = np.zeros(self.names, np.uint8)
        self.is_output[self.current[self.outputs]] = 1
        gone, fewer = self._simplify() if self.passes.equal or self.passes.merge else (0, 0)
        dead_statements, dead_records = self._drop() if self.passes.dead else (0, 0)
        self.reuse, largest, ranges = self._number()
        if self.reuse and not self.reused:
            self.statements.kept[self.is_input] = 0      # inputs are listed
        places = self._places()
        steps = [renumbered(step, self.new[self.aliases], self.new[:self.size], places[k], *ranges[k])
                 for k, step in enumerate(old.steps) if self.record_kept[k]]
        streams, primals = self._stored(largest)
        inputs, outputs = np.zeros(self.size, np.int32), np.zeros(self.size, np.int32)
        at = self._inputs()
        inputs[at] = self.new[self.current[at]]
        outputs[self.outputs] = self.new[self.current[self.outputs]]
        parameters = old.parameters | {"strategy": self._strategy()}
        listed = sorted(self.new[self.current[self._listed()]].tolist()) if self.reuse else []
        contents = Contents(parameters, streams, steps, largest, primals, listed, old.shared,
                            long_arrays=old.long_arrays)
        return Optimized(contents, inputs, outputs, Saved(gone, equal_records, fewer, dead_statements, dead_records,
                                                          old.largest - largest))

    def _strategy(self):
        given = self.old.parameters["strategy"]
        return f"{self.kind}-reuse" if self.reuse and not self.reused else given

    def _listed(self):
        """Identifiers of scalar inputs that are no statements where identifiers are reused."""
        return np.array([*self.old.inputs, *self.results[self.is_input]], np.int64)

    def _inputs(self):
        """Identifiers of all inputs."""
        arrays = [self.results_of[k][0] for k, step in enumerate(self.old.steps) if type(step) is Input]
        return np.concatenate([self._listed(), *arrays, self._unlisted()]).astype(np.int64)

    def _unlisted(self):
        """Of `simple` the identifiers of scalar inputs, which are no statements: what a block has unset is none."""
        return np.flatnonzero(self.is_unset & (self.taken_by < 0)) if self.kind == "simple" else np.zeros(0, np.int64)

    def _merge_records(self):
        """Drop records that are equal to an earlier one, where neither they nor what they read is ever set again."""
        once = (self.sets <= 1) & ~self.by_statement
        once[self.outputs] = False
        single, known, gone = self.sets <= 1, {}, 0
        for k, step in enumerate(self.old.steps):
            results = np.concatenate([np.zeros(0, np.int64), *self.results_of[k]])
            if not len(results) or not once[results].all():
                continue
            if not all(single[ids].all() for ids in read_by(step)):
                continue
            content = content_of(step, self.aliases)
            if content is None:
                continue
            others = known.setdefault(content, [])
            other = next((j for j in others if is_alike(step, self.old.steps[j])), None)
            # Whole blocks only: what names some of its identifiers names no others.
            if other is not None and len(np.unique(results)) == step.after - step.before:
                for mine, theirs in zip(self.results_of[k], self.results_of[other]):
                    self.aliases[mine] = theirs
                self.record_kept[k] = False
                gone += 1
            elif other is None:
                others.append(k)
        return gone

    def _simplify(self):
        """Merge equal statements, and equal arguments of one."""
        statements = self.statements
        of_records = statements.arguments < self.size
        statements.arguments[of_records] = self.aliases[statements.arguments[of_records]]
        stable = np.ones(self.names, np.uint8)
        stable[:self.size] = self.sets <= 1
        stands = stable & (1 - self.is_output)
        may_go = ((statements.results >= self.size) & ~self.is_input & (self.is_output[statements.results] == 0))
        return statements.simplify(
            self.names, stable, stands, may_go.astype(np.uint8), self.kind == "jacobian", self.passes.equal,
            self.passes.merge, self.old.parameters["skip_zero_jacobians"], code_of_copy(self.kind == "primal"))

    def _drop(self):
        """Drop what no output depends on; inputs stay."""
        live, gone, last = self.is_output.copy(), 0, self.statements.size
        dead = 0
        stays = self.is_input.astype(np.uint8)
        for k in range(len(self.old.steps) - 1, -1, -1):
            step = self.old.steps[k]
            gone += self.statements.mark(step.place[-1], last, live, stays)
            last = step.place[-1]
            if not self.record_kept[k]:
                continue
            # What has no result at all is a comparison for replays.
            results = self.results_of[k]
            # Who took identifiers that are read stays, also where nobody set them.
            taken = np.arange(0 if self.reused else step.after - step.before) + step.before + 1
            if type(step) is not Input and results and not any(live[ids].any() for ids in (*results, taken)):
                self.record_kept[k], dead = False, dead + 1
                continue
            for ids in self.results_of[k]:
                # With linear identifiers a number that a call gives has that of a statement, which stays for its sake.
                live[ids] = 0 if self.reused else self.by_statement[ids]
            for ids in read_by(step):
                live[self.aliases[ids]] = 1
        gone += self.statements.mark(0, last, live, stays)
        return gone, dead

    # ---- New identifiers ----

    def _number(self):
        """Whether identifiers are reused, the largest, and for each record those before and after it."""
        if self.may_reuse:
            self.new = np.zeros(self.names, np.int32)
            largest, ranges = self._number_by_lifetime()
            statements = int(self.statements.kept.sum())
            if self.reused or _IN_USE * largest + _RESULT * statements < _SLOT * (self._in_order() - largest):
                return True, largest, ranges
        self.new = np.zeros(self.names, np.int32)
        return False, *self._number_in_order()

    def _in_order(self):
        """How many identifiers there are where each serves once."""
        taken = sum(step.after - step.before for k, step in enumerate(self.old.steps) if self.record_kept[k])
        return int(self.statements.kept.sum()) + taken

    def _number_in_order(self):
        """Where a statement's identifier is its place: the next one each, blocks when they are first set."""
        old, statements, new = self.old, self.statements, self.new
        largest, done, ranges = 0, 0, {}
        unlisted = self._unlisted()
        new[unlisted] = np.arange(1, len(unlisted) + 1)
        largest = len(unlisted)
        open_blocks = set(range(len(old.steps)))
        for k, step in enumerate(old.steps):
            largest = statements.number_in_order(done, step.place[-1], new, largest)
            done, before = step.place[-1], largest
            if not self.record_kept[k]:
                continue
            named = [*self.results_of[k], *(self.aliases[ids] for ids in read_by(step))]
            blocks = {k} | {int(j) for ids in named for j in np.unique(self.taken_by[ids])}
            for j in sorted(blocks & open_blocks):
                block = old.steps[j]
                new[block.before + 1:block.after + 1] = largest + np.arange(1, block.after - block.before + 1)
                largest += block.after - block.before
                open_blocks.discard(j)
            ranges[k] = before, largest
        return statements.number_in_order(done, statements.size, new, largest), ranges

    def _number_by_lifetime(self):
        """Identifiers of records are shifted together; all others serve again."""
        statements, new = self.statements, self.new
        spans = np.zeros(self.size + 1, np.int64)
        used = np.zeros(self.names, bool)
        for k, step in enumerate(self.old.steps):
            if not self.record_kept[k]:
                continue
            for numbers in (*self.results_of[k], *(self.aliases[numbers_of(x)] for x in argument_slots(step))):
                if len(numbers):
                    spans[numbers.min()] += 1
                    spans[numbers.max() + 1] -= 1
        kept = statements.kept.astype(bool)
        used[statements.results[kept]] = True
        used[statements.arguments[_items(statements.starts, statements.counts, kept)]] = True
        used[self.current[self._inputs()]] = used[self.current[self.outputs]] = True
        stays = (np.cumsum(spans)[:-1] > 0) | used[:self.size]
        stays[0] = False
        if self.reused and not self.passes.renumber:
            stays[1:] = True
        new[:self.size] = np.where(stays, np.cumsum(stays), 0)
        until = np.cumsum(stays)
        fixed = int(until[-1])
        largest = statements.number_by_lifetime(new, self.is_output, fixed)
        if self.kind == "primal":        # whose values by identifier end with the last number: arrays come behind
            new[:] = np.where(new > fixed, new - fixed, np.where(new > 0, new + largest - fixed, 0))
            until += largest - fixed
        return largest, {k: (int(until[step.before]), int(until[step.after])) for k, step in enumerate(self.old.steps)}

    # ---- Streams ----

    def _places(self):
        """For each record how many items are before it."""
        kept = self.statements.kept.astype(np.int64)
        counts, numbers = self.statements.counts * kept, self.statements.number_counts * kept
        per_stream = {"jacobian": (counts, kept), "primal": (numbers, counts, kept),
                      "simple": (numbers, counts + kept, kept)}[self.kind]
        before = [np.concatenate([[0], np.cumsum(each)]) for each in per_stream]
        return [tuple(int(each[step.place[-1]]) for each in before) for step in self.old.steps]

    def _stored(self, largest):
        """The streams, and the values by identifier."""
        statements, new = self.statements, self.new
        kept = statements.kept.astype(bool)
        counts, results = statements.counts[kept], new[statements.results[kept]]
        arguments = new[statements.arguments[_items(statements.starts, statements.counts, kept)]]
        numbers = statements.numbers[_items(statements.number_starts, statements.number_counts, kept)]
        if self.kind == "jacobian":
            tags = np.where(self.is_input[kept], _INPUT_TAG, counts).astype(np.uint8)
            return [(numbers, arguments), (tags, results) if self.reuse else (tags,)], np.zeros(0)
        codes = statements.codes[kept]
        primals = self._of_elements(largest)
        if self.kind == "simple":
            ends = np.cumsum(counts + 1) - 1
            identifiers = np.empty(len(arguments) + len(results), np.int32)
            is_result = np.zeros(len(identifiers), bool)
            is_result[ends] = True
            identifiers[is_result], identifiers[~is_result] = results, arguments
            return [(numbers,), (identifiers,), (codes,)], self._gathered(largest)
        values = self.values[kept]
        listed = self._listed()
        inputs = new[self.current[listed]]
        read = arguments[np.repeat(codes > 0, counts)]       # not of copies of elements, and of handmade statements
        if self.old.steps:
            primals = primals[:max(ids.max(initial=0) for ids in (results, inputs, read)) + 1]
        if not self.reuse:
            primals[results] = values
            return [(numbers,), (arguments,), (codes,)], primals
        primals[:] = 0.0
        primals[inputs] = self.before[listed]
        overwritten = exchanged(results, values, primals, False)
        return [(numbers,), (arguments,), (codes, results, overwritten)], primals

    def _of_elements(self, largest):
        """Values by identifier that statements read of arrays: of an equal record's elements as well."""
        primals, old = np.zeros(largest + 1), self.old.primals
        primals[self.new[:len(old)]] = old
        moved = np.flatnonzero((self.aliases[:len(old)] != np.arange(len(old))) & self.is_read[:len(old)])
        primals[self.new[self.aliases[moved]]] = old[moved]
        primals[0] = 0.0
        return primals

    def _gathered(self, largest):
        """Of `simple`, the values by identifier, if they were gathered: inputs may have been given others."""
        known = np.full(largest + 1, -1, np.int64).view(np.float64)
        statements = self.statements
        by_name = np.full(self.names, -1, np.int64).view(np.float64)
        by_name[statements.arguments[::-1]] = statements.numbers[::-1]      # of several the first
        first = len(self.old.primals)
        told = np.flatnonzero(self.old.primals.view(np.int64) != -1)
        by_name[self.current[told[told < first]]] = self.old.primals[told[told < first]]
        known[self.new] = by_name
        known[0] = 0.0
        return known if first else np.zeros(0)


def _items(starts, counts, kept):
    """The places of the items of the kept statements."""
    lengths = counts[kept].astype(np.int64)
    ends = np.cumsum(lengths)
    return np.repeat(starts[:-1][kept] - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)
