# SPDX-License-Identifier: Apache-2.0
"""A recording run again by operations of the enclosing recording: its values, and its sweeps.

Numbers that depend on nothing outside stay numbers; what depends on variables of the enclosing recording is recorded
there, values and sweeps alike. So the sweep of an inner gradient is a program like any other, and can be differentiated
itself, to any order.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right

import numpy as np

from codipy.active.array import Real, call, plain
from codipy.active.borrowed import origins
from codipy.active.kinds import converted
from codipy.errors import ActiveError, TapeError, UndifferentiableError
from codipy.nested.formulas import PARTIALS, VALUES, rounded
from codipy.nested.slots import Flows, Slots, reach
from codipy.operations import TABLE
from codipy.programs.program import instructions
from codipy.tape.reading import steps

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
        self.values, self._varied, self._kept = Slots(), set(), {}
        given = dict(origins(tape))
        wanted = {first for first, _ in inputs}
        given |= dict(inputs)
        self._steps = steps(tape)
        self.values.rewritten = _rewritten(self._steps)
        with np.errstate(all="ignore"):
            for number, step in enumerate(self._steps):
                _VALUE[step[0]](self, number, step, given, wanted)

    # ---- Which identifiers depend on the inputs ----

    def varies(self, where):
        """Whether a step's argument depends on the inputs; `where` is a set of identifiers."""
        low, end = reach(*where)
        while low < end:
            number = self.values.number(low)
            if number < 0:
                if low in self._varied:
                    return True
                low += 1
            else:
                if ~number in self._varied:
                    return True
                low = self.values.firsts[number] + self.values.sizes[number]
        return False

    def _mark(self, first):
        number = self.values.number(first)
        self._varied.add(first if number < 0 else ~number)

    # ---- Sweeps ----

    def pull(self, seeds):
        """The reverse sweep.

        Parameters
        ----------
        seeds : list of (ndarray of int, value)
            Identifiers and what is added to their adjoints.

        Returns
        -------
        Slots
            The adjoints; those of inputs can be read.
        """
        bars = Flows(self.values)
        with np.errstate(all="ignore"):
            for identifiers, seed in seeds:
                bars.add_several(identifiers.reshape(-1), np.reshape(seed, (-1,)))
            for number in range(len(self._steps) - 1, -1, -1):
                step = self._steps[number]
                _PULL[step[0]](self, number, step, bars)
        return bars

    def push(self, seeds):
        """The forward sweep: as `pull`, with tangents; those of all identifiers can be read."""
        dots = Flows(self.values)
        with np.errstate(all="ignore"):
            for identifiers, seed in seeds:
                dots.add_several(identifiers.reshape(-1), np.reshape(seed, (-1,)))
            for number, step in enumerate(self._steps):
                _PUSH[step[0]](self, number, step, dots)
        return dots


def _rewritten(steps):
    """First identifiers of the blocks that are set in parts, or again."""
    found, firsts, sizes = set(), [], []
    for step in steps:
        if step[0] == "array":
            low, end = reach(*step[1])
            if low < end and math.prod(step[1][1]) < sizes[bisect_right(firsts, low) - 1]:
                found.add(firsts[bisect_right(firsts, low) - 1])
            continue
        for low, end in _opened(step):
            firsts.append(low)
            sizes.append(end - low)
    return found


def _opened(step):
    """Ranges of identifiers that a step is the first to name, and that later ones may set again."""
    if step[0] == "block":
        return [(step[1], step[1] + step[2])]
    if step[0] == "move":
        return [(step[1], step[1] + len(step[2]))]
    if step[0] == "call":
        return [reach(*where) for where in step[1] if where is not None and where[1]]
    return []


# ---- Scalar statements -----------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=4096)
def _program(handle):
    """Leaves, and steps as (code, rounded, registers), of a scalar program."""
    return instructions(handle)


def _of_numpy(x):
    """A number as one of NumPy's, whose arithmetic knows infinities."""
    return converted(x, np.float64) if type(x) is Real else np.float64(x)


def _run(steps, registers):
    """Append the value of each step to the registers."""
    for code, is_single, sources in steps:
        value = VALUES[code](*[registers[k] for k in sources])
        registers.append(rounded(value) if is_single else value)


def _scalar_registers(program, step):
    is_active, instructions = _program(step[2])
    identifiers, constants = iter(step[3]), iter(step[4])
    registers = [program.values.one(next(identifiers)) if active else np.float64(next(constants))
                 for active in is_active]
    _run(instructions, registers)
    return is_active, instructions, registers


def _scalar_value(program, number, step, given, wanted):
    _, identifier, handle, arguments, _ = step
    scalars = program.values.scalars
    if handle == 0:
        if identifier not in given:
            raise UndifferentiableError("an input that the function registers itself (tape.register_input) is "
                                        "unknown to the driver that runs it: pass it as an argument")
        scalars[identifier] = _of_numpy(given[identifier])
        if identifier in wanted:
            program._varied.add(identifier)
        return
    scalars[identifier] = _scalar_registers(program, step)[2][-1]
    if any(program.varies((argument, (), ())) for argument in arguments):
        program._varied.add(identifier)


def _scalar_pull(program, number, step, bars):
    identifier = step[1]
    if step[2] == 0 or identifier not in bars.scalars or identifier not in program._varied:
        return
    bar = bars.scalars[identifier]
    is_active, instructions, registers = _scalar_registers(program, step)
    found = _pulled(instructions, registers, _varied_leaves(program, is_active, step), bar)
    for argument, share in zip(step[3], (x for x, active in zip(found, is_active) if active)):
        if share is not None:
            bars.add_one(argument, share)


def _scalar_push(program, number, step, dots):
    identifier = step[1]
    if step[2] == 0 or identifier not in program._varied:
        return
    is_active, instructions, registers = _scalar_registers(program, step)
    identifiers = iter(step[3])
    tangents = [dots.take((next(identifiers), (), ())) if active else None for active in is_active]
    found = _pushed(instructions, registers, tangents)
    if found is not None:
        dots.scalars[identifier] = found


def _varied_leaves(program, is_active, step):
    identifiers = iter(step[3])
    return [active and program.varies((next(identifiers), (), ())) for active in is_active]


# ---- Expressions of steps --------------------------------------------------------------------------------------------
def _arguments(registers, leaves, place, sources):
    """x, y, z and w of a step."""
    operands = [registers[k] for k in sources]
    return (*operands, *(None,) * (3 - len(operands)), registers[leaves + place])


def _pulled(instructions, registers, wanted, bar):
    """For each leaf that is wanted its share of the adjoint of the last step; None where there is none."""
    found = _pulled_by(instructions, registers, wanted, bar, _product)
    if any(share is not None and np.isnan(plain(share)).any() for share in found):
        return _pulled_by(instructions, registers, wanted, bar, _gated)     # a zero adjoint passes nothing on
    return found


def _pulled_by(instructions, registers, wanted, bar, product):
    leaves = len(wanted)
    reached = list(wanted)
    for _, _, sources in instructions:
        reached.append(any(reached[k] for k in sources))
    bars = [None] * len(registers)
    bars[-1] = bar
    for place in range(len(instructions) - 1, -1, -1):
        bar = bars[leaves + place]
        if bar is None or not reached[leaves + place]:
            continue
        code, _, sources = instructions[place]
        arguments = _arguments(registers, leaves, place, sources)
        for k, partial in zip(sources, PARTIALS[code]):
            if reached[k]:
                share = product(bar, partial, arguments, _sifts(code, k, sources, reached))
                if share is not None:
                    bars[k] = share if bars[k] is None else bars[k] + share
    return bars[:leaves]


def _pushed(instructions, registers, tangents):
    """The tangent of the last step; None where there is none."""
    found = _pushed_by(instructions, registers, tangents, _product)
    if found is not None and np.isnan(plain(found)).any():
        return _pushed_by(instructions, registers, tangents, _gated)
    return found


def _pushed_by(instructions, registers, tangents, product):
    leaves, dots, reached = len(tangents), list(tangents), [tangent is not None for tangent in tangents]
    for place, (code, _, sources) in enumerate(instructions):
        arguments, total = None, None
        for k, partial in zip(sources, PARTIALS[code]):
            if dots[k] is not None:
                arguments = arguments or _arguments(registers, leaves, place, sources)
                share = product(dots[k], partial, arguments, _sifts(code, k, sources, reached))
                if share is not None:
                    total = share if total is None else total + share
        dots.append(total)
        reached.append(total is not None)
    return dots[-1]


def _sifts(code, k, sources, reached):
    """Whether a partial that is zero passes nothing on, not even what is infinite: see the table's column."""
    sifts = TABLE[code].sifts
    return sifts == "always" or sifts == "passive" and sum(reached[other] for other in sources) == 1


def _product(flow, partial, arguments, sifts):
    """flow * partial; None where that is zero by the formula."""
    if type(partial) is float:
        return None if partial == 0.0 else flow if partial == 1.0 else flow * partial
    return flow * partial(*arguments)


def _gated(flow, partial, arguments, sifts):
    """The same, where a zero flow passes nothing, whatever the partial is."""
    if type(partial) is float:
        return _product(flow, partial, arguments, sifts)
    factor = partial(*arguments)
    share = flow * factor
    shape = np.shape(plain(share))
    passes = np.broadcast_to(plain(flow) != 0, shape)
    if sifts:
        passes = passes & (plain(factor) != 0)
    if not shape:
        return share if passes else np.float64(0.0)
    return np.where(passes, share, 0.0)


# ---- Array statements ------------------------------------------------------------------------------------------------
_SINGLE_STEPS, _SINGLE_RESULT = 1, 2


def _instructions(tiles):
    """Steps as (code, rounded, registers)."""
    last = len(tiles.steps) - 1
    return [(code, tiles.rounded == _SINGLE_STEPS or tiles.rounded == _SINGLE_RESULT and k == last, sources)
            for k, (code, sources) in enumerate(tiles.steps)]


def _array_registers(program, number, step):
    instructions, registers = _instructions(step[2]), list(program._kept[number])
    _run(instructions, registers)
    return instructions, registers


def _array_value(program, number, step, given, wanted):
    _, result, tiles, operands = step
    # Kept, since these identifiers may be set again before a sweep asks for the values that were read here.
    program._kept[number] = [program.values.get(x) if type(x) is tuple else x if isinstance(x, np.ndarray) else
                             np.float64(x) for x in operands]
    value = _array_registers(program, number, step)[1][-1]
    program.values.put(result, value if np.shape(value) == result[1] else np.broadcast_to(value, result[1]))
    if any(type(x) is tuple and program.varies(x) for x in operands):
        program._mark(reach(*result)[0])


def _array_pull(program, number, step, bars):
    _, result, _, operands = step
    if not program.varies(result):
        return
    bar = bars.consume(result)
    wanted = [type(x) is tuple and program.varies(x) for x in operands]
    if bar is None or not any(wanted):
        return
    instructions, registers = _array_registers(program, number, step)
    for operand, share in zip(operands, _pulled(instructions, registers, wanted, bar)):
        if share is not None and type(operand) is tuple:
            bars.add(operand, share if operand[1] else np.sum(share))


def _array_push(program, number, step, dots):
    _, result, _, operands = step
    if not program.varies(result):
        return
    tangents = [dots.take(x) if type(x) is tuple else None for x in operands]
    found = None
    if any(tangent is not None for tangent in tangents):
        instructions, registers = _array_registers(program, number, step)
        found = _pushed(instructions, registers, tangents)
    if found is not None:
        dots.put(result, found if np.shape(found) == result[1] else np.broadcast_to(found, result[1]))
    elif not dots.is_zero(result):
        dots.put(result, np.zeros(result[1]))


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


def _set(values, where, value):
    """Put a result, which may be a scalar that a statement gave room to."""
    if where[1]:
        values.put(where, value)
    else:
        values.scalars[where[0]] = value


def _sum_pull(program, number, step, bars):
    _, result, argument, axes, scale = step
    if not program.varies(argument):
        return
    bar = bars.take(result)
    if bar is None:
        return
    shape = argument[1]
    spread = np.reshape(bar * scale if scale != 1.0 else bar,
                        tuple(1 if axis in axes else n for axis, n in enumerate(shape)))
    bars.add(argument, np.broadcast_to(spread, shape) if shape else np.reshape(spread, ())[()])


def _sum_push(program, number, step, dots):
    _, result, argument, axes, scale = step
    dot = dots.take(argument)
    if dot is not None:
        dots.add(result, np.sum(dot, axis=axes) * scale)


def _move_value(program, number, step, given, wanted):
    _, first, sources, constants = step
    program.values.put((first, sources.shape, (1,)), program.values.several(sources, constants))
    if any(source and program.varies((source, (), ())) for source in np.unique(sources).tolist()):
        program._mark(first)


def _move_pull(program, number, step, bars):
    _, first, sources, _ = step
    where = first, sources.shape, (1,)
    if sources.size and program.varies(where):
        bar = bars.take(where)
        if bar is not None:
            bars.add_several(sources, bar)


def _move_push(program, number, step, dots):
    _, first, sources, constants = step
    where = first, sources.shape, (1,)
    if sources.size and program.varies(where):
        dots.add(where, dots.several(sources, np.zeros(len(constants))))


# ---- Primitives ------------------------------------------------------------------------------------------------------
def _call_args(program, step):
    _, _, _, args, kwargs, argnums, arguments = step
    args = list(args)
    for k, where in zip(argnums, arguments):
        args[k] = program.values.get(where)
    return tuple(args)


def _call_value(program, number, step, given, wanted):
    _, results, primitive, _, kwargs, _, arguments = step
    args = _call_args(program, step)
    out = _traced(primitive, call, primitive, args, kwargs)
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
    found = [None if where is None else bars.take(where) for where in results]
    if all(bar is None for bar in found):
        return
    found = [np.zeros(where[1]) if bar is None and where is not None else bar for bar, where in zip(found, results)]
    args, out = program._kept[number]
    back = _traced(primitive, primitive.vjp, tuple(found) if isinstance(out, tuple) else found[0], out, args, kwargs,
                   tuple(wanted))
    where_of = dict(zip(argnums, arguments))
    for k, bar in zip(wanted, back):
        if bar is not None:
            bars.add(where_of[k], bar)


def _call_push(program, number, step, dots):
    _, results, primitive, _, kwargs, argnums, arguments = step
    found = {k: dots.take(where) for k, where in zip(argnums, arguments)}
    if all(dot is None for dot in found.values()):
        return
    if primitive.jvp is None:
        raise UndifferentiableError(f"{primitive.name} has no jvp rule: a forward derivative needs one")
    args, out = program._kept[number]
    found = {k: np.zeros(where[1]) if found[k] is None else found[k] for k, where in zip(argnums, arguments)}
    dot = _traced(primitive, primitive.jvp, found, out, args, kwargs)
    for where, part in zip(results, dot if isinstance(out, tuple) else (dot,)):
        if where is not None and part is not None:
            dots.add(where, part)


def _traced(primitive, rule, *args):
    """Run a rule on what may be active; where it cannot, say whose it is."""
    try:
        return rule(*args)
    except (ActiveError, TapeError) as error:
        raise UndifferentiableError(
            f"the derivative of {primitive.name} cannot be differentiated again: its rule {error}") from error


def _block(program, number, step, given, wanted):
    program.values.open(step[1], step[2])


# What each kind of step does, by its name in `codipy.tape.reading`: computes values, sweeps back, sweeps forward.
_VALUE = {"block": _block, "scalar": _scalar_value, "input": _input_value, "array": _array_value, "sum": _sum_value,
          "move": _move_value, "call": _call_value}
_PULL = {"block": _nothing, "scalar": _scalar_pull, "input": _nothing, "array": _array_pull, "sum": _sum_pull,
         "move": _move_pull, "call": _call_pull}
_PUSH = {"block": _nothing, "scalar": _scalar_push, "input": _nothing, "array": _array_push, "sum": _sum_push,
         "move": _move_push, "call": _call_push}
