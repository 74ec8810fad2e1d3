# SPDX-License-Identifier: Apache-2.0
"""Jumps of a right-hand side that a solution goes over: where one moves with the variables, that contributes.

The derivative of the steps that were taken, and that of the equation, have the branches which the solution went
through, and lack what moving a jump adds. So what a solver was given for slopes is looked at, in order of time: where a
cubic through neighbours comes less near to one than beside it, or least near of all, the right-hand side is bisected on
the line between two of the solver's states. A jump that is found is looked at once more with other states and other
values of the variables: one that stays where it was contributes nothing.

Rejected: to add what the jump contributes. It has the slope of a surface of which only the sides are known, so it would
be made of differences, and of first order. To look into each step: where steps are as long as the tolerances allow, a
cubic comes near to few slopes, and each look costs calls. To watch comparisons: what jumps need not compare (`%`,
`np.sign`, `np.arctan2`).
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import plain
from codipy.implicit.opened import may_read_variables
from codipy.implicit.trajectory import Step
from codipy.numpy.arguments import value_tree
from codipy.tape import passive
from codipy.tools.callee import name_of

__all__ = ["Switches", "Watched", "in_order"]

_NEIGHBOURS = (0, 1, 3, 4)      # of five in a row
_SIZE = 1e-5           # of the slopes near it: what counts as a jump; or this part of the relative tolerance
_PART = 0.1
_LEAST = 1e-3          # of the tolerance: what a jump must move the solution by, if it lasted all the time
_SPIKE = 4.0           # how much further off than beside it a slope is at a jump
_ROUGHEST, _MOST = 8, 32
_SHIFT = 1e-6          # how far variables, states and times are moved
_NEAR = 1e-12          # of the distance of two states: where the right-hand side is looked at from both sides
_FADES = 0.3           # of what it was in an interval five times as long
_APART, _TIMES = 16.0, (1.0, 1.7, 3.1)
_SHARP = 4.0           # how much larger a jump is than differences on one side of it
_CHUNK, _OVERLAP = 1024, 8      # steps


class Switches:
    """Finds jumps that move.

    Parameters
    ----------
    equation : Equation
    solver : type
        The `OdeSolver` that took the steps.
    options : dict
        Among them its tolerances.
    start, end : float
        The times between which it integrates.

    Attributes
    ----------
    may_call : bool
        Whether the equation may be called while the solver runs: it keeps nothing on the side.
    """

    def __init__(self, equation, solver, options, start, end):
        self._equation, self._end, self._length = equation, end, abs(end - start) or 1.0
        self._direction = 1.0 if end >= start else -1.0
        self._relative, self._absolute = (known if options.get(name) is None else np.max(options[name])
                                          for name, known in (("rtol", 1e-3), ("atol", 1e-6)))
        self._least = max(_SIZE, _PART * self._relative)
        self.may_call = not equation.keeps
        nodes = getattr(solver, "C", None)
        self._order = None if nodes is None else np.array([k for k in np.argsort(nodes) if nodes[k] < 1.0])
        self._nodes = None if nodes is None else nodes[self._order]

    def refuse(self, t, y, steps, moves):
        """Raise if the right-hand side jumps within some steps, where what is differentiated by may move the jump.

        Parameters
        ----------
        t, y : float, ndarray
            Where the first step begins.
        steps : list of Step
        moves : callable
            Of the number of a step, whether the state at its beginning moves, and whether the times in it do.

        Raises
        ------
        ArithmeticError
        """
        steps = [step for step in steps if step.calls]
        if not steps:
            return
        start, values = (float(t), np.asarray(y, np.float64)), [plain(x) for x in self._equation.variables]
        with passive(), np.errstate(all="ignore"):
            f = self._equation.with_values(values)
            times, slopes = self._series(f, start, steps)
            sizes = np.max(np.abs([start[1], *(step.y for step in steps)]), axis=0)
            floors = _LEAST * (self._absolute + self._relative * sizes) / (self._length * self._least)
            period = 1 if self._order is None else len(self._order)
            for k, scales in _rough(np.abs(times - times[0]), slopes, floors[:, None], self._least, period):
                line = _Line(self._point(k, start, steps), self._point(k + 1, start, steps), scales)
                found = line.jump(f, slopes[:, k:k + 2].T, self._least)
                if found is None:
                    continue
                low, high, size = found
                if self._direction * (self._end - line.time(low)) < 0.0:      # odeint looks further
                    continue
                shifts = [sign * shift for sign, shift in zip(moves(k // period), (sizes, self._length))]
                if may_read_variables(f) or self._moves(line, low, high, size, values, *shifts):
                    raise ArithmeticError(
                        f"the right-hand side {name_of(self._equation.f)} of a differential equation jumps at t = "
                        f"{line.time(high):.6g}, and where it does may depend on what is differentiated by: the "
                        "derivative of the solution lacks what moving the jump contributes; integrate up to the jump, "
                        "by t_span or to a terminal event, and on from there, each time with a right-hand side that "
                        "does not jump")

    def _series(self, f, start, steps):
        """The times of slopes, and these, one in each column."""
        if self._order is None:
            rows = [_row(f(*start), start[1]), *(_row(step.slopes, step.y) for step in steps[:-1])]
            rows.append(_row(f(*steps[-1].calls[0]), steps[-1].y))      # where it ends no method need have looked
            return np.array([start[0], *(step.calls[0][0] for step in steps)]), np.ascontiguousarray(np.transpose(rows))
        found = np.array([step.slopes for step in steps])
        starts = np.array([step.t_old for step in steps])
        lengths = np.array([step.t for step in steps]) - starts
        times = np.append(starts[:, None] + lengths[:, None] * self._nodes, steps[-1].t)
        slopes = np.empty((found.shape[2], times.size))
        slopes[:, :-1] = found[:, self._order].reshape(times.size - 1, -1).T
        slopes[:, -1] = found[-1, -1]
        return times, slopes

    def _point(self, k, start, steps):
        """The time and the state of a slope."""
        if self._order is None:
            return steps[k - 1].calls[0] if k else start
        step, stage = divmod(k, len(self._order))
        if stage:
            return steps[step].calls[self._order[stage] - 1]
        return (steps[step - 1].t, steps[step - 1].y) if step else start

    def _moves(self, line, low, high, size, values, sizes, length):
        """Whether a jump is gone from its place where other values are, and states and times of other sizes."""
        random, moved = np.random.default_rng(1), []

        def factors(like):
            return random.uniform(0.5, 1.0, np.shape(like)) * random.choice([-1.0, 1.0], np.shape(like))

        parts = [factors(x) * np.where(x, np.abs(x), np.max(np.abs(x), initial=0.0) or 1.0) for x in values]
        state, time = factors(sizes) * sizes, float(factors(length)) * length
        for sign in (_SHIFT, -_SHIFT):
            other = self._equation.with_values([type(x)(x + sign * part) if np.ndim(x) == 0 else x + sign * part
                                                for x, part in zip(values, parts)])
            try:
                before, after = (line.slopes(other, place, sign * time, sign * state) for place in (low, high))
            except (ArithmeticError, ValueError):      # at the border of what it is defined for
                continue
            moved.append(not _far(before, after) > 0.5 * size)
        return any(moved) or not moved


def _row(found, like):
    """Slopes as SciPy takes them."""
    if type(found) is np.ndarray and found.shape == like.shape and found.dtype == np.float64:
        return found
    return np.broadcast_to(np.reshape(np.asarray(value_tree(found), np.float64), (-1,)), like.shape)


def _far(a, b):
    """The largest difference of finite numbers."""
    distances = np.abs(a - b)
    return float(np.max(distances, where=np.isfinite(distances), initial=0.0))


class _Line:
    """From one time and state to another, where slopes are divided by scales.

    Parameters
    ----------
    start, end : tuple
        Pairs of a time and a state.
    scales : ndarray, shape (n,)
    """

    def __init__(self, start, end, scales):
        (self._t, y), (t, other) = start, end
        self._y, self._step, self._scales = np.reshape(y, (-1,)), t - self._t, scales
        self._change = np.reshape(other, (-1,)) - self._y

    def time(self, place):
        """That of a place between 0 and 1."""
        return self._t + place * self._step

    def slopes(self, f, place, t=0.0, y=0.0):
        """What a right-hand side is at a place, or so far beside it."""
        return _row(f(self.time(place) + t, self._y + place * self._change + y), self._y) / self._scales

    def jump(self, f, ends, least):
        """Places on both sides of a jump, and how large it is; None if there is none.

        Parameters
        ----------
        f : callable
        ends : ndarray, shape (2, n)
            Slopes at both ends.
        least : float
            What is no jump.
        """
        left, right = ends / self._scales
        found = self._narrowed(f, left, right, least)
        if found is None:
            return None
        # What is compared stands a little apart: where numbers are equal `np.sign` has a third value.
        low, high = found
        apart = _APART * (high - low)
        sides = [[self.slopes(f, low - count * apart) for count in _TIMES],
                 [self.slopes(f, high + count * apart) for count in _TIMES]]
        size = _far(sides[0][0], sides[1][0])
        # Rounding errors differ as much on one side.
        is_sharp = _SHARP * max(_far(x, side[0]) for side in sides for x in side) <= size
        return (low - apart, high + apart, size) if size > least and is_sharp else None

    def _narrowed(self, f, left, right, least):
        """Places at no distance between which it jumps; None if it is smooth, or has a kink.

        Of five parts that one is taken in which the function changes most unlike in the others: where it is smooth,
        that is a 25th of what it was in the part before; at a kink it is a fifth, at a jump as much.
        """
        low, high, before = 0.0, 1.0, 0.0
        while high - low > _NEAR:
            places = [low, *(low + part * (high - low) for part in (0.2, 0.4, 0.6, 0.8)), high]
            numbers = np.array([left, *(self.slopes(f, place) for place in places[1:-1]), right])
            changes = numbers[1:] - numbers[:-1]
            unlike = np.abs(changes - np.sort(changes, axis=0)[2]).max(axis=1)
            unlike[~np.isfinite(unlike)] = 0.0
            k = int(unlike.argmax())
            if unlike[k] <= least or unlike[k] <= _FADES * before:
                return None
            before, low, high, left, right = unlike[k], places[k], places[k + 1], numbers[k], numbers[k + 1]
        return low, high


def _rough(times, slopes, floors, least, period):
    """Between which neighbours a jump may be, with the scales there: the most likely first.

    Parameters
    ----------
    times : ndarray, shape (k,)
    slopes : ndarray, shape (n, k)
    floors : ndarray, shape (n, 1)
        Of the scales.
    least : float
    period : int
        So many slopes has a step.
    """
    count = times.size
    sizes = np.abs(slopes)
    scales = np.maximum(sizes[:, :-1], sizes[:, 1:])
    np.maximum(scales, floors, out=scales)
    if count < 6:
        return [(k, scales[:, k]) for k in range(count - 1)]
    near = [times[k:count - 4 + k] - times[2:-2] for k in _NEIGHBOURS]
    off, part = np.negative(slopes[:, 2:-2]), np.empty((len(slopes), count - 4))
    for k, own in zip(_NEIGHBOURS, near):
        weight = 1.0
        for other in near:
            if other is not own:
                weight = weight * (other / (other - own))
        off += np.multiply(weight, slopes[:, k:count - 4 + k], out=part)
    np.abs(off, out=off)
    off /= np.maximum(scales[:, 1:-2], scales[:, 2:-1], out=part)
    worst = off.max(axis=0)
    rough = np.flatnonzero(~(worst <= least))
    if not rough.size:
        return []
    worst[np.isnan(worst)] = np.inf
    apart, found = max(2 * period, len(_NEIGHBOURS)), []
    usual = np.minimum(_beside(off, rough, apart, period), _beside(off, rough, -apart, -period))
    spikes = rough[~np.all(off[:, rough] <= np.maximum(_SPIKE * usual, least), axis=0)]
    roughest = rough[np.argsort(-worst[rough])[:_ROUGHEST]]
    for samples, most in ((spikes, _MOST + count // _MOST), (roughest, _ROUGHEST)):
        beside = [samples + 1, samples + 2, samples[samples == 0], samples[samples == count - 5] + 3]
        intervals = np.unique(np.concatenate(beside))
        leaps = np.max(_leaps(times, slopes, intervals) / scales[:, intervals], axis=0, initial=0.0)
        found += intervals[np.argsort(-leaps, kind="stable")[:most]].tolist()
    return [(k, scales[:, k]) for k in dict.fromkeys(found)]


def _beside(off, rough, apart, period):
    """The larger of two numbers on one side, some steps away; infinite beyond the end."""
    near, further = rough + apart, rough + apart + period
    inside = (further >= 0) & (further < off.shape[1])
    found = np.full((len(off), rough.size), np.inf)
    found[:, inside] = np.maximum(off[:, near[inside]], off[:, further[inside]])
    return found


def _leaps(times, slopes, intervals):
    """Changes less what the smaller rate beside makes of them."""
    def changes(k):
        return slopes[:, k + 1] - slopes[:, k], times[k + 1] - times[k]

    (before, past), (change, length), (after, then) = (
        changes(np.clip(intervals + k, 0, times.size - 2)) for k in (-1, 0, 1))
    before, after = before / past, after / then
    found = np.abs(change - length * np.where(np.abs(before) < np.abs(after), before, after))
    return np.where(np.isfinite(found), found, np.inf)


class Watched:
    """Steps that are looked at while a solver takes them, some at a time; what keeps them gets each.

    Parameters
    ----------
    kept : Kept
    switches : Switches
    moves : bool
        Whether the states do.
    """

    def __init__(self, kept, switches, moves):
        self._kept, self._switches, self._moves, self._steps = kept, switches, moves, []
        self._first = kept.states[0]

    def append(self, step):
        """Another step."""
        self._kept.append(step)
        self._steps.append(step)
        if len(self._steps) >= _CHUNK and self._switches.may_call:
            self.finish()

    def finish(self):
        """Look at what has not been looked at."""
        self._switches.refuse(*self._first, self._steps, lambda step: (self._moves, False))
        if len(self._steps) > _OVERLAP:
            before = self._steps[-_OVERLAP - 1]
            self._first, self._steps = (before.t, before.y), self._steps[-_OVERLAP:]


def in_order(seen):
    """Steps of what a solver asked for that tells nothing of its steps: times, states and slopes.

    Of times that it came back to, the last is taken: the step to the others was rejected, or has not converged.
    """
    direction, found = 1.0 if seen[-1][0] >= seen[0][0] else -1.0, []
    for t, y, slopes in seen:
        while found and direction * (t - found[-1].t) <= 0.0:
            found.pop()
        found.append(Step(found[-1].t if found else np.nan, t, y, [(t, y)], (), slopes))
    return found
