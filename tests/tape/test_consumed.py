# SPDX-License-Identifier: Apache-2.0
"""What `gradient` shows after sweeps is an adjoint that is there, or an error: never 0.0 for one that was consumed."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codipy
from codipy.errors import TapeError
from tests.strategies import COUNTING, LINEAR, each_pair, each_strategy, new_tape

GONE = "no gradient"


def chain(tape):
    """x -> w -> y with a position between the two statements of w and y."""
    with tape:
        x = tape.register_input(3.0)
        w = tape.register_output(x * x)
        place = tape.position()
        y = tape.register_output(w * w)
    return x, w, y, place


def array_chain(tape):
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        w = tape.register_output(x * x)
        place = tape.position()
        y = tape.register_output(w * w)
    return x, w, y, place


def refused(*variables):
    for x in variables:
        with pytest.raises(TapeError, match=GONE):
            x.gradient


def passed(variant, make):
    """A tape and what `make` records on it, after a sweep over all of that."""
    tape = new_tape(variant)
    x, w, y, place = make(tape)
    y.gradient = 1.0
    tape.evaluate()
    refused(w, y)
    return tape, x, w, y, place


@each_pair()
def test_a_sweep_consumes_what_it_passes(variant):
    tape = new_tape(variant)
    x, w, y, place = chain(tape)
    assert (x.gradient, w.gradient, y.gradient) == (0.0, 0.0, 0.0)  # nothing was seeded: this is the adjoint
    y.gradient = 1.0
    assert y.gradient == 1.0
    tape.evaluate(end=place)
    refused(y)
    assert (x.gradient, w.gradient) == (0.0, 18.0)
    tape.evaluate(start=place)
    refused(w, y)
    assert x.gradient == 108.0
    tape.clear_adjoints()
    assert (x.gradient, w.gradient, y.gradient) == (0.0, 0.0, 0.0)
    y.gradient = 2.0
    tape.evaluate()
    refused(w, y)
    assert x.gradient == 216.0


@each_pair()
def test_arrays_views_and_elements(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        first = x[0]
        w = tape.register_output(x * x + first)
        element = w[2]
        place = tape.position()
        y = tape.register_output(w * w + element)
    own = variant[0] == "primal-reuse"  # where an element has a slot of its own
    y.gradient = np.ones(3)
    tape.evaluate(end=place)
    refused(y, y[1:])
    flowed = 2.0 * np.array([2.0, 5.0, 10.0])
    assert element.gradient == (3.0 if own else 23.0)
    assert np.array_equal(w.gradient, flowed + [0.0, 0.0, 0.0 if own else 3.0])
    assert np.array_equal(w[:2].gradient, flowed[:2])
    tape.evaluate(place)
    refused(w, w[1:], w[::-1], element)
    if own:
        refused(first)
    else:
        assert first.gradient == x.gradient[0]
    plain = 2.0 * np.array([1.0, 2.0, 3.0]) * (flowed + [0.0, 0.0, 3.0]) + [flowed.sum() + 3.0, 0.0, 0.0]
    assert np.array_equal(x.gradient, plain)
    assert np.array_equal(x[::-1].gradient, plain[::-1])
    assert w[:0].gradient.shape == (0,)


@each_strategy
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("make", [chain, array_chain])
def test_external_vectors_know_their_own_sweeps(strategy, width, make):
    tape = codipy.Tape(strategy=strategy)
    x, w, y, place = make(tape)
    mine, other = tape.new_adjoints(width), tape.new_adjoints(width)
    mine[y] = other[y] = 1.0
    tape.evaluate(end=place, adjoints=mine)
    mine[w], other[y], w.gradient  # these are there
    with pytest.raises(TapeError, match=GONE):
        mine[y]
    tape.evaluate(start=place, adjoints=mine)
    for variable in (w, y):
        with pytest.raises(TapeError, match=GONE):
            mine[variable]
        assert np.all(other[variable] == (variable is y))
    mine[w] = 2.0
    assert np.all(mine[w] == 2.0)
    with pytest.raises(TapeError, match=GONE):
        mine[y]
    mine.clear()
    assert not np.any(mine[w]) and not np.any(mine[x])


@each_pair()
@pytest.mark.parametrize("make", [chain, array_chain])
def test_a_seed_makes_it_readable_again(variant, make):
    tape, x, w, y, place = passed(variant, make)
    w.gradient = 5.0
    assert np.all(w.gradient == 5.0)
    refused(y)
    before = x.gradient
    tape.evaluate(start=place)
    assert np.array_equal(x.gradient - before, 10.0 * x.value)  # the seed's, beside what was there
    refused(w, y)


def test_a_part_that_is_seeded_is_the_part_that_is_read():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.arange(4.0))
        y = tape.register_output(x * x)
    y.gradient = 1.0
    tape.evaluate()
    y[1:3].gradient = 2.0
    assert y[1:3].gradient.tolist() == y[2:0:-1].gradient.tolist() == [2.0, 2.0]
    refused(y, y[:2])


@pytest.mark.parametrize("strategy", LINEAR)
def test_keep_leaves_all_of_them(strategy):
    tape = codipy.Tape(strategy=strategy)
    x, w, y, _ = chain(tape)
    y.gradient = 1.0
    tape.evaluate(keep=True)
    assert (x.gradient, w.gradient, y.gradient) == (108.0, 18.0, 1.0)
    tape.clear_adjoints()
    y.gradient = 1.0
    tape.evaluate()
    refused(w, y)


@each_pair()
@pytest.mark.parametrize("make", [chain, array_chain])
def test_forward_sweeps_leave_everything_they_came_to(variant, make):
    tape, x, w, y, place = passed(variant, make)
    tape.clear_adjoints()
    x.gradient = 1.0
    tape.evaluate_forward()
    assert np.array_equal(w.gradient, 2.0 * x.value) and np.array_equal(y.gradient, 4.0 * x.value**3)
    y.gradient = 1.0
    tape.evaluate()
    refused(w, y)
    x.gradient = 1.0
    tape.evaluate_forward(end=place)  # the tangents of a range are new, whatever was there
    assert np.array_equal(w.gradient, 2.0 * x.value)
    refused(y)
    tape.evaluate_forward(start=place)
    assert np.array_equal(y.gradient, 4.0 * x.value**3)


@each_strategy
def test_what_is_recorded_later_was_not_passed(strategy):
    tape = codipy.Tape(strategy=strategy)
    x, w, y, _ = chain(tape)
    for resumed in (False, True):
        y.gradient = 1.0
        tape.evaluate()
        with tape:
            z = tape.register_output(x * 7.0)
            if resumed:
                z.gradient = 1.0
                tape.evaluate()
                refused(z)
                z = tape.register_output(x * 5.0)
        assert z.gradient == 0.0
        z.gradient = 1.0
        assert z.gradient == 1.0
        tape.clear_adjoints()


@each_strategy
@pytest.mark.parametrize("clear", ["clear_adjoints", "delete_adjoints"])
def test_clearing_forgets(strategy, clear):
    tape = codipy.Tape(strategy=strategy)
    _, w, y, place = chain(tape)
    y.gradient = 1.0
    tape.evaluate()
    getattr(tape, clear)()
    assert (w.gradient, y.gradient) == (0.0, 0.0)
    y.gradient = 1.0
    tape.evaluate()
    tape.reset(place)
    assert w.gradient == 0.0
    with pytest.raises(TapeError, match="reset"):
        y.gradient


@each_strategy
def test_copies_and_inputs_that_are_outputs(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(2.0)
        a = tape.register_input(np.ones(3))
        twin, again = copy.copy(x), tape.register_output(x)
        b = a.copy()
        y = tape.register_output(x * x)
        other = copy.copy(y)
    y.gradient = 1.0
    tape.evaluate()
    assert (x.gradient, twin.gradient, again.gradient) == (4.0, 4.0, 4.0)
    assert not a.gradient.any() and not b.gradient.any()
    refused(y, other)


def test_the_part_of_a_larger_statement_has_none():
    with codipy.Tape() as tape:
        x = tape.register_input(np.ones(3))
        w = x * 2.0
        s = tape.register_output(np.sum(w * w))
        s.gradient = 1.0
        tape.evaluate()
        refused(w)
    refused(w)


def test_ranges_of_epochs():
    tape = codipy.Tape(strategy="jacobian")
    places, xs = [], []
    with tape:
        x = tape.register_input(1.0)
        for k in range(6):
            xs.append(tape.register_output(x * float(k)))
            places.append(tape.position())
    ranges = [(3, 1, {2, 3}), (5, 4, {5}), (1, 0, {1}), (4, 3, {4}), (0, None, {0})]
    gone = set()
    for start, end, passed in ranges:
        gone |= passed
        tape.evaluate(places[start], None if end is None else places[end])
        for k, y in enumerate(xs):
            if k in gone:
                refused(y)
            else:
                assert y.gradient == 0.0
    tape.evaluate_forward(places[1], places[3])
    refused(*xs[:2], *xs[4:])
    assert xs[2].gradient == xs[3].gradient == 0.0


# ---- Random programs. Oracle: the derivative of the result with respect to a variable as it is at a position. ----

STEP = 1e-30
SIZE = 4


class Plain:
    """Runs a program on complex numbers; the `nudged` variables get an imaginary part after the action number `at`."""

    def __init__(self, actions, nudged=(), at=None):
        self.variables, self.groups, self.writes, self.written = {}, {}, [], {}
        self.count = 0
        for time, action in enumerate(actions):
            getattr(self, action[0])(time, *action[1:])
            if time == at:
                for k, place in nudged:
                    if k in self.variables:
                        self.nudge(k, place)

    def nudge(self, k, place):
        if np.ndim(self.variables[k]):
            self.variables[k] = self.variables[k].copy()
            self.variables[k][place] += 1j * STEP
        else:
            self.variables[k] = self.variables[k] + 1j * STEP

    def add(self, value, time):
        self.variables[self.count], self.written[self.count] = value, time
        self.count += 1

    def pick(self, i, arrays):
        found = [k for k, v in self.variables.items() if bool(np.ndim(v)) == arrays]
        return found[i % len(found)] if found else None

    def input(self, time, i, j):
        self.add(self.new_input(0.3 + 0.1 * i if j % 2 else 0.1 * np.arange(1.0, SIZE + 1) + 0.05 * i), time)

    def new_input(self, value):
        return value + 0j

    def scalar(self, time, i, j):
        a, b = self.pick(i, False), self.pick(j, False)
        if a is not None:
            self.add(self.output(np.sin(self.variables[a]) * self.variables[b] + 0.5), time)

    def output(self, value):
        return value

    def array(self, time, i, j):
        a, b = self.pick(i, True), self.pick(j, True)
        s = self.pick(j, False)
        if a is not None:
            value = np.sin(self.variables[a]) * self.variables[b]
            self.add(self.output(value * self.variables[s] if s is not None else value + 0.25), time)

    def total(self, time, i, j):
        a = self.pick(i, True)
        if a is not None:
            self.add(self.output(np.sum(self.variables[a]) * 0.25), time)

    def element(self, time, i, j):
        a = self.pick(i, True)
        if a is not None:
            self.groups[self.count] = (a, self.version(a, time), j % SIZE)
            self.add(self.variables[a][j % SIZE], time)

    def write(self, time, i, j):
        a, b = self.pick(i, True), self.pick(j, True)
        if a is None or a in self.inputs():
            return
        begin = j % 3
        self.variables[a][begin : begin + 2] = np.cos(self.variables[b][begin : begin + 2]) * 0.7
        self.writes.append((a, time))
        self.written[a] = time

    def version(self, a, at):
        return sum(array == a and time <= at for array, time in self.writes)

    def inputs(self):
        return [0, 1]

    def drop(self, time, i, j):
        if len(self.variables) > 3:
            k = list(self.variables)[2 + i % (len(self.variables) - 2)]
            del self.variables[k]

    def position(self, time, i, j):
        pass

    def result(self):
        total = 0.0
        for v in list(self.variables.values()):
            total = total + (np.sum(v * v) if np.ndim(v) else v * v)
        return total


class Recorded(Plain):
    def __init__(self, tape, actions):
        self.tape, self.positions = tape, []
        super().__init__(actions)

    def new_input(self, value):
        return self.tape.register_input(value)

    def output(self, value):
        return self.tape.register_output(value)

    def position(self, time, i, j):
        self.positions.append((self.tape.position(), time))


ACTIONS = [*["scalar", "array", "position"] * 3, *["element", "write", "drop"] * 2, "total"]
numbers = st.integers(0, 12)
BEGIN = [("input", 1, 1), ("input", 1, 0)]


def true_adjoints(actions, recorded, k, at):
    """What the slot of variable k may hold of the result's derivative after a sweep back to an action."""
    value = recorded.variables[k]
    found = []
    for i in range(SIZE) if np.ndim(value) else [None]:
        group = (k, recorded.version(k, at), i) if i is not None else recorded.groups.get(k)
        alone = derivative(actions, [(k, i)], at)
        together = derivative(actions, members(recorded, group, k, i, at), at)
        found.append((alone, together))
    return found


def members(recorded, group, k, i, at):
    """The variables that may share a slot: an array's element and those taken from it since it was written."""
    if group is None:
        return [(k, i)]
    array, version, place = group
    same = [(m, None) for m, other in recorded.groups.items() if other == group]
    return same + [(array, place)] * (recorded.version(array, at) == version)


def derivative(actions, nudged, at):
    return Plain(actions, nudged, at).result().imag / STEP


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ACTIONS), numbers, numbers), max_size=14), st.data())
@each_pair()
def test_random_programs(variant, actions, data):
    actions = BEGIN + actions
    tape = new_tape(variant)
    with tape:
        recorded = Recorded(tape, actions)
        result = tape.register_output(recorded.result())
        early = data.draw(st.booleans())
        for _ in range(2 if early else 1):  # in one sweep, and in several
            tape.clear_adjoints()
            result.gradient = 1.0
            start = None
            for place, time in reversed(recorded.positions):
                if early or place is recorded.positions[0][0]:
                    tape.evaluate(start, place)
                    check(actions, recorded, result, time)
                    start = place
            tape.evaluate(start)
            check(actions, recorded, result, 1)
        later = tape.register_output(recorded.variables[0] * 3.0)
        try:
            assert later.gradient == 0.0
        except TapeError:
            assert variant[0] in (*COUNTING, "auto") or any(name == "write" for name, *_ in actions)


def check(actions, recorded, result, at):
    refused(result)
    for k, value in recorded.variables.items():
        if k in recorded.inputs():
            found = value.gradient
        elif recorded.written[k] > at and recorded.groups.get(k, (2,))[0] not in recorded.inputs():
            refused(value)
            continue
        else:
            try:
                found = value.gradient
            except TapeError:
                assert k in recorded.groups or at == 1  # an element's statement is older than it
                continue
        for number, right in zip(np.atleast_1d(found), true_adjoints(actions, recorded, k, at), strict=True):
            assert any(number == pytest.approx(r, rel=1e-9, abs=1e-11) for r in right), (k, at, number, right)
