# SPDX-License-Identifier: Apache-2.0
"""A recording run again by operations of the enclosing recording: its values, and its sweeps.

Numbers that depend on nothing outside stay numbers; what depends on variables of the enclosing recording is recorded
there, values and sweeps alike. So the sweep of an inner gradient is a program like any other, and can be differentiated
itself, to any order.
"""

from __future__ import annotations

import functools
import itertools
import math
from bisect import bisect_right

import numpy as np

from codipy.active.array import Array, Real, call, is_active, plain
from codipy.active.recordings.borrowed import origins
from codipy.active.scalar.kinds import converted
from codipy.errors import UndifferentiableError
from codipy.nested.expressions import Expression
from codipy.nested.slots import Flows, Slots, reach
from codipy.numpy.rules.phases import tried
from codipy.programs.program import instructions
from codipy.tape.contents.reading import steps, values

__all__ = ["AdjointProgram"]


class AdjointProgram:
    """The recording of an inner tape, with the variables of enclosing recordings that it depends on.

    Parameters
    ----------
    tape : Tape
        Of the strategy ``primal``, passive; it may be reset afterwards.
    inputs : list of (int, value)
        First identifiers, and what the inputs stand for: a number, a Real, an Array, a plain array.

    Attributes
    ----------
    values : Slots
        What each identifier stands for.
    """

    def __init__(self, tape, inputs):
        self.values, self._varied, self._kept, self.gated = Slots(), set(), {}, False
        given = dict(origins(tape))
        wanted = {first for first, _ in inputs}
        given |= {first: _own(value) for first, value in inputs}
        self._steps, self._recorded = steps(tape), values(tape)
        self.values.rewritten = _rewritten(self._steps)
        with np.errstate(all="ignore"):
            for number, step in enumerate(self._steps):
                _VALUE[step[0]](self, number, step, given, wanted)

    # ---- Which identifiers depend on the inputs ----

    def varies(self, where):
        """Whether any of some identifiers depends on the inputs."""
        low, end = reach(*where)
        while low < end:
            number = self.values.number(low)
            if (low if number < 0 else ~number) in self._varied:
                return True
            low = low + 1 if number < 0 else self.values.firsts[number] + self.values.sizes[number]
        return False

    def varies_one(self, identifier):
        """Whether one of them does."""
        number = self.values.number(identifier)
        return (identifier if number < 0 else ~number) in self._varied

    def _mark(self, first):
        number = self.values.number(first)
        self._varied.add(first if number < 0 else ~number)

    # ---- Sweeps ----

    def pull(self, seeds, read):
        """The reverse sweep.

        Parameters
        ----------
        seeds : list of (ndarray of int, value)
            Identifiers and what is added to their adjoints.
        read : list of (ndarray of int or None)
            Identifiers of which the adjoints are asked for.

        Returns
        -------
        list
            Arrays and numbers of the shapes of `read`; None for None.
        """
        return self._swept(_PULL, range(len(self._steps) - 1, -1, -1), seeds, read)

    def push(self, seeds, read):
        """The forward sweep: as `pull`, with tangents."""
        return self._swept(_PUSH, range(len(self._steps)), seeds, read)

    def _swept(self, actions, order, seeds, read):
        # A zero flow passes nothing on, also through a partial that is infinite. That is rare, and seen at the end.
        for self.gated in (False, True):
            flows = Flows(self.values)
            with np.errstate(all="ignore"):
                for identifiers, seed in seeds:
                    flows.add_several(identifiers.reshape(-1), np.reshape(seed, (-1,)))
                for number in order:
                    step = self._steps[number]
                    actions[step[0]](self, number, step, flows)
                found = [None if identifiers is None else flows.several(identifiers) for identifiers in read]
            if not any(x is not None and _has_nan(plain(x)) for x in found):
                break
        return found


def _has_nan(x):
    return bool(np.isnan(x).any()) if np.ndim(x) else x != x


def _rewritten(steps):
    """First identifiers of the blocks that are set in parts, or again."""
    found, firsts, sizes, whole = set(), [], [], set()
    for step in steps:
        if step[0] == "block":
            firsts.append(step[1])
            sizes.append(step[2])
        for where in _results(step):
            low, end = reach(*where)
            number = bisect_right(firsts, low) - 1
            if low == end or number < 0 or low >= firsts[number] + sizes[number]:
                continue             # nothing, or a scalar
            if math.prod(where[1]) < sizes[number] or number in whole:
                found.add(firsts[number])
            whole.add(number)
    return found


def _results(step):
    """The identifiers that a step sets, but a scalar statement's and an input's."""
    if step[0] == "array" or step[0] == "sum":
        return [step[1]]
    if step[0] == "move":
        return [(step[1], step[2].shape, (1,))]
    return [where for where in step[1] if where is not None] if step[0] == "call" else []


def _assign(dots, where, found):
    """Set the tangents of a step's results; None where they are zero."""
    if found is None:
        if dots.is_zero(where):
            return
        found = np.zeros(where[1])
    _set(dots, where, found if np.shape(found) == where[1] else np.broadcast_to(found, where[1]))


def _set(slots, where, value):
    """Set the results of a step; one may be a scalar, to which a statement gave room."""
    if where[1] or slots.number(where[0]) >= 0:
        slots.put(where, value)
    else:
        slots.scalars[where[0]] = value


def _own(value):
    """A copy: the caller may write to what it has."""
    return value.copy() if type(value) is Array or isinstance(value, np.ndarray) else value


# ---- Scalar statements -----------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=4096)
def _program(handle):
    """For each leaf whether it is an argument, the expression, and whether it reads constants."""
    is_active, steps = instructions(handle)
    return is_active, Expression(len(is_active), steps, of_numbers=True), all(is_active)


def _of_numpy(x):
    """A number as one of NumPy's, whose arithmetic knows infinities."""
    return converted(x, np.float64) if type(x) is Real else np.float64(x)


def _scalar_of_numpy(x):
    """The same for what a rule is handed, which asks it for its shape; arrays, and what is none of Python's, stay."""
    return _of_numpy(x) if type(x) is float or type(x) is Real and not hasattr(x, "dtype") else x


def _scalar_value(program, number, step, given, wanted):
    _, identifier, handle, arguments, constants = step
    scalars = program.values.scalars
    if handle == 0:
        if identifier not in given:
            raise UndifferentiableError("an input that the function registers itself (tape.register_input) is "
                                        "unknown to the driver that runs it: pass it as an argument")
        scalars[identifier] = _of_numpy(given[identifier])
        if identifier in wanted:
            program._varied.add(identifier)
        return
    is_active, expression, is_whole = _program(handle)
    if program.values.firsts:
        found = [program.values.one(argument) for argument in arguments]
        varied = [program.varies_one(argument) for argument in arguments]
    else:
        found, varied = [scalars[argument] for argument in arguments], [x in program._varied for x in arguments]
    if not is_whole:
        found, varied = _spread(is_active, found, map(np.float64, constants)), _spread(is_active, varied, None)
    value, recorded = expression.value(*found), program._recorded[identifier]
    if plain(value) != recorded and np.isfinite(recorded):
        # Another library's function may round otherwise; what reads it must take the branch of the run.
        value = value + (recorded - plain(value)) if type(value) is Real else recorded
    scalars[identifier] = value
    if any(varied):
        program._varied.add(identifier)
        program._kept[number] = expression, found, tuple(varied), is_active


def _spread(is_active, arguments, constants):
    """One item for each leaf, from those of the arguments and of the constants (None: False)."""
    arguments, constants = iter(arguments), itertools.repeat(False) if constants is None else constants
    return [next(arguments) if active else next(constants) for active in is_active]


def _scalar_pull(program, number, step, bars):
    identifier = step[1]
    if identifier not in bars.scalars or number not in program._kept:
        return
    expression, operands, varied, is_active = program._kept[number]
    shares = expression.pull(varied, program.gated)(bars.scalars[identifier], *operands)
    arguments = iter(step[3])
    for active, share in zip(is_active, shares):
        argument = next(arguments) if active else 0
        if share is not None:
            bars.add_one(argument, share)


def _scalar_push(program, number, step, dots):
    if number not in program._kept:
        return
    expression, operands, varied, is_active = program._kept[number]
    arguments = iter(step[3])
    tangents = [dots.take((next(arguments), (), ())) if active else None for active in is_active]
    flows = tuple(tangent is not None for tangent in tangents)
    if any(flows):
        found = expression.push(flows, program.gated)(*tangents, *operands)
        if found is not None:
            dots.scalars[step[1]] = found


# ---- Array statements ------------------------------------------------------------------------------------------------
_SINGLE_STEPS, _SINGLE_RESULT = 1, 2


@functools.lru_cache(maxsize=4096)
def _expression(tiles):
    """The expression of an array program."""
    steps, last = tiles.steps, len(tiles.steps) - 1
    return Expression(tiles.operands, [
        (code, tiles.rounded == _SINGLE_STEPS or tiles.rounded == _SINGLE_RESULT and k == last, sources)
        for k, (code, sources) in enumerate(steps)])


def _array_value(program, number, step, given, wanted):
    _, result, tiles, arguments = step
    # Kept, since these identifiers may be set again before a sweep asks for the values that were read here.
    operands = [program.values.get(x) if type(x) is tuple else x if isinstance(x, np.ndarray) else np.float64(x)
                for x in arguments]
    expression = _expression(tiles)
    value = expression.value(*operands)
    program.values.put(result, value if np.shape(value) == result[1] else np.broadcast_to(value, result[1]))
    varied = tuple(type(x) is tuple and program.varies(x) for x in arguments)
    if any(varied):
        program._mark(reach(*result)[0])
        program._kept[number] = expression, operands, varied


def _array_pull(program, number, step, bars):
    _, result, _, arguments = step
    if not program.varies(result):
        return
    bar = bars.consume(result)
    if bar is None or number not in program._kept:
        return
    expression, operands, varied = program._kept[number]
    for where, share in zip(arguments, expression.pull(varied, program.gated)(bar, *operands)):
        if share is not None:
            bars.add(where, share if where[1] else np.sum(share))


def _array_push(program, number, step, dots):
    _, result, _, arguments = step
    if not program.varies(result):
        return
    found = None
    if number in program._kept:
        expression, operands, varied = program._kept[number]
        tangents = [dots.take(where) if varies else None for where, varies in zip(arguments, varied)]
        flows = tuple(tangent is not None for tangent in tangents)
        if any(flows):
            found = expression.push(flows, program.gated)(*tangents, *operands)
    _assign(dots, result, found)


# ---- Inputs, sums, movements -----------------------------------------------------------------------------------------
def _input_value(program, number, step, given, wanted):
    _, first, values = step
    value = given.get(first, values)
    program.values.put((first, values.shape, (1,)), np.reshape(value, values.shape))
    if first in wanted:
        program._mark(first)


def _nothing(program, number, step, flows):
    pass


def _sum_value(program, number, step, given, wanted):
    _, result, argument, axes, scale = step
    value = np.sum(program.values.get(argument), axis=axes)
    if scale != 1.0:
        value = value * scale
    _set(program.values, result, value)
    if program.varies(argument):
        program._mark(result[0])


def _sum_pull(program, number, step, bars):
    _, result, argument, axes, scale = step
    if not program.varies(argument):
        return
    bar = bars.consume(result)
    if bar is None:
        return
    shape = argument[1]
    spread = np.reshape(bar * scale if scale != 1.0 else bar,
                        tuple(1 if axis in axes else n for axis, n in enumerate(shape)))
    bars.add(argument, np.broadcast_to(spread, shape) if shape else np.reshape(spread, ())[()])


def _sum_push(program, number, step, dots):
    _, result, argument, axes, scale = step
    dot = dots.take(argument)
    _assign(dots, result, None if dot is None else np.sum(dot, axis=axes) * scale)


def _move_value(program, number, step, given, wanted):
    _, first, sources, constants = step
    program.values.put((first, sources.shape, (1,)), program.values.several(sources, constants))
    if any(source and program.varies_one(source) for source in np.unique(sources).tolist()):
        program._mark(first)


def _move_pull(program, number, step, bars):
    _, first, sources, _ = step
    where = first, sources.shape, (1,)
    if sources.size and program.varies(where):
        bar = bars.consume(where)
        if bar is not None:
            bars.add_several(sources, bar)


def _move_push(program, number, step, dots):
    _, first, sources, constants = step
    where = first, sources.shape, (1,)
    if sources.size and program.varies(where):
        _assign(dots, where, dots.several(sources, np.zeros(len(constants))))


# ---- Primitives ------------------------------------------------------------------------------------------------------
def _call_args(program, step):
    _, _, _, args, kwargs, argnums, arguments = step
    args = list(args)
    for k, where in zip(argnums, arguments):
        args[k] = _scalar_of_numpy(program.values.get(where))
    return tuple(args)


def _call_value(program, number, step, given, wanted):
    _, results, primitive, _, kwargs, _, arguments = step
    args = _call_args(program, step)
    out = traced(primitive, call, primitive, args, kwargs)
    parts = out if isinstance(out, tuple) else (out,)
    varied = any(program.varies(where) for where in arguments)
    for where, part in zip(results, parts):
        if where is not None:
            _set(program.values, where, part)
            if varied:
                program._mark(reach(*where)[0])
    program._kept[number] = args, out


def _call_pull(program, number, step, bars):
    _, results, primitive, _, kwargs, argnums, arguments = step
    wanted = [k for k, where in zip(argnums, arguments) if program.varies(where)]
    if not wanted:
        return
    found = [None if where is None else bars.consume(where) for where in results]
    if all(bar is None for bar in found):
        return
    found = [np.zeros(where[1]) if bar is None and where is not None else _scalar_of_numpy(bar)
             for bar, where in zip(found, results)]
    args, out = program._kept[number]
    several = isinstance(out, tuple)

    def back_of(flows):
        return traced(primitive, primitive.vjp, tuple(flows) if several else flows[0], out, args, kwargs,
                       tuple(wanted))

    back = _linear(back_of, found)
    where_of = dict(zip(argnums, arguments))
    for k, bar in zip(wanted, back):
        if bar is not None:
            bars.add(where_of[k], bar)


def _call_push(program, number, step, dots):
    _, results, primitive, _, kwargs, argnums, arguments = step
    found = {k: dots.take(where) for k, where in zip(argnums, arguments)}
    if all(dot is None for dot in found.values()):
        for where in results:
            if where is not None:
                _assign(dots, where, None)
        return
    if primitive.jvp is None:
        raise UndifferentiableError(f"{primitive.name} has no jvp rule: a forward derivative needs one")
    args, out = program._kept[number]
    found = {k: np.zeros(where[1]) if found[k] is None else _scalar_of_numpy(found[k])
             for k, where in zip(argnums, arguments)}
    keys = list(found)

    def on_of(flows):
        dot = traced(primitive, primitive.jvp, dict(zip(keys, flows)), out, args, kwargs)
        return dot if isinstance(out, tuple) else (dot,)

    for where, part in zip(results, _linear(on_of, list(found.values()))):
        if where is not None:
            _assign(dots, where, part)


def _linear(rule, flows):
    """What a rule gives, also where a flow is zero here and has a slope.

    Rules leave out what a zero flow multiplies, or would be infinite. They are linear: such flows are raised by 1, and
    what the rule gives for that alone is taken off again. Values are those of the rule for the flows as they are.
    """
    direct = rule(flows)
    raised = [None if flow is None or not is_active(flow) else 1.0 * (plain(flow) == 0) for flow in flows]
    if not any(x is not None and np.any(x) for x in raised):
        return direct
    with tried():
        above = rule([flow if x is None else flow + x for flow, x in zip(flows, raised)])
        alone = rule([None if flow is None else np.zeros(np.shape(flow))[()] if x is None else x
                      for flow, x in zip(flows, raised)])
    return [_differing(*found) for found in zip(direct, above, alone)]


def _differing(direct, above, alone):
    """`above` - `alone`, with the values of `direct`, which it is where the others are infinite."""
    if above is None:
        return direct
    found = above if alone is None else above - alone
    value = 0.0 if direct is None else plain(direct)
    moved = value - plain(found)
    usable = np.isfinite(moved)
    if np.all(usable):
        return found + moved
    shape = np.shape(moved)
    if not shape:
        return direct
    return np.where(usable, found + np.where(usable, moved, 0.0), np.zeros(shape) if direct is None else direct)


def traced(primitive, rule, *args):
    """Run a rule on what may be active; where it cannot, say whose it is."""
    try:
        return rule(*args)
    except np.linalg.LinAlgError:
        raise
    except Exception as error:      # compiled code has exceptions of its own for what is no plain number
        raise UndifferentiableError(f"the derivative of {primitive.name} cannot be differentiated again: its rule "
                                    f"raised {type(error).__name__}: {error}") from error


def _block(program, number, step, given, wanted):
    program.values.open(step[1], step[2])


# What each kind of step does, by its name in `codipy.tape.contents.reading`: computes values, sweeps back and forward.
_VALUE = {"block": _block, "scalar": _scalar_value, "input": _input_value, "array": _array_value, "sum": _sum_value,
          "move": _move_value, "call": _call_value}
_PULL = {"block": _nothing, "scalar": _scalar_pull, "input": _nothing, "array": _array_pull, "sum": _sum_pull,
         "move": _move_pull, "call": _call_pull}
_PUSH = {"block": _nothing, "scalar": _scalar_push, "input": _nothing, "array": _array_push, "sum": _sum_push,
         "move": _move_push, "call": _call_push}
