# SPDX-License-Identifier: Apache-2.0
"""A recording run once more on power series: the coefficients of each identifier side by side."""

from __future__ import annotations

import functools
import math

import numpy as np

from codipy.active.array import is_active, plain
from codipy.active.tape import Tape
from codipy.errors import UndifferentiableError
from codipy.nested.formulas import VALUES, rounded
from codipy.operations import BY_NAME
from codipy.programs.program import instructions
from codipy.series.nodes import Given, Memo, Node
from codipy.series.rows import of_row
from codipy.series.scalars import Usual, is_usual
from codipy.tape.contents.reading import steps, values

__all__ = ["SeriesProgram"]

_SINGLE_STEPS, _SINGLE_RESULT = 1, 2      # of an array program: which of its values are float32
_SINGLE = BY_NAME["single"].code
# Products of two operands, the positions of which are said; of those of matrices the primitive says it itself.
_BILINEAR = {"matvec", "vecmat", "vecdot", "inner", "outer", "vdot", "tensordot", "kron", "cross", "linalg.cross",
             "convolve", "correlate", "einsum"}


class SeriesProgram:
    """The steps of a recording.

    Parameters
    ----------
    tape : Tape
        Of the strategy ``primal``, passive; it may be reset afterwards.
    moved : bool
        Whether it will be run for other values than it was recorded at.
    """

    def __init__(self, tape, moved=False):
        self._steps, self._values = steps(tape), None if moved else values(tape)
        self._largest = max((_largest(step) for step in self._steps), default=0)
        self._is_scalar = all(step[0] == "scalar" for step in self._steps)
        self._rules = {}

    def run(self, inputs, order):
        """Coefficients up to that of t**order.

        Parameters
        ----------
        inputs : list of (ndarray of int, ndarray)
            Identifiers of inputs, and their coefficients: one axis more, the first.
        order : int

        Returns
        -------
        ndarray
            Of shape (order + 1, identifiers); that of 0, which is passive, is zero.
        """
        # Numbers alone have their coefficients side by side; else those of an array lie side by side.
        shape = (self._largest + 1, order + 1)
        c = np.zeros(shape).T if self._is_scalar else np.zeros(shape[::-1])
        known = set()
        for identifiers, coefficients in inputs:
            if identifiers.size:
                c[:, identifiers] = coefficients[:order + 1]
                known.add(int(identifiers.flat[0]))
        with np.errstate(all="ignore"):
            for number, step in enumerate(self._steps):
                getattr(self, f"_{step[0]}")(c, number, step, known)
        return c

    # ---- Steps: see `codipy.tape.contents.reading.steps` ----

    def _block(self, c, number, step, known):
        pass

    def _input(self, c, number, step, known):
        if step[1] not in known:
            c[0, step[1]:step[1] + step[2].size] = step[2]

    def _scalar(self, c, number, step, known):
        _, identifier, handle, arguments, constants = step
        if handle == 0:
            if identifier not in known:
                raise UndifferentiableError("an input that the function registers itself (tape.register_input) is "
                                            "unknown to the driver that runs it: pass it as an argument")
            return
        active, program, usual = _instructions(handle)
        if usual is None or not usual.run(c, identifier, arguments, constants):
            self._by_table(c, identifier, active, program, arguments, constants)
        if self._values is not None:      # to the last bit: branches and kinks are those of the run
            c[0, identifier] = self._values[identifier]

    def _by_table(self, c, identifier, active, program, arguments, constants):
        arguments, constants = iter(arguments), iter(constants)
        leaves = [c[:, next(arguments)] if is_argument else np.float64(next(constants)) for is_argument in active]
        c[:, identifier] = _evaluated(leaves, active, program, len(c) - 1)

    def _array(self, c, number, step, known):
        _, result, tiles, operands = step
        leaves = [_seen(c, x) if type(x) is tuple else x if isinstance(x, np.ndarray) else np.float64(x)
                  for x in operands]
        # New arrays, also of one operand alone: the result may lie where operands do.
        found = np.array(_evaluated(leaves, [type(x) is tuple for x in operands], _steps_of(tiles), len(c) - 1))
        missing = len(result[1]) + 1 - found.ndim      # of constants alone
        _seen(c, result)[...] = found.reshape(len(c), *(1,) * missing, *found.shape[1:])

    def _sum(self, c, number, step, known):
        _, result, argument, axes, scale = step
        found = np.sum(_seen(c, argument), axis=tuple(axis + 1 for axis in axes))
        _seen(c, result)[...] = found * scale if scale != 1.0 else found

    def _move(self, c, number, step, known):
        _, first, sources, constants = step
        found = c[:, sources]      # 0, which is passive, has zeros
        found[0, sources == 0] = constants
        c[:, first:first + sources.size] = found

    def _call(self, c, number, step, known):
        _, results, primitive, args, kwargs, argnums, arguments = step
        series = {k: np.array(_seen(c, where)) for k, where in zip(argnums, arguments)}
        args = tuple(series[k][0] if k in series else x for k, x in enumerate(args))
        out = _traced(primitive, primitive.forward, *args, **kwargs)
        several = isinstance(out, tuple)
        wanted = [place for place, where in enumerate(results) if where is not None]
        parts = out if several else (out,)
        found = {place: np.zeros((len(c), *np.shape(parts[place]))) for place in wanted}
        for place in wanted:
            found[place][0] = parts[place]
        moving = {k: x for k, x in series.items() if np.any(x[1:])}
        if moving and len(c) > 1:
            self._call_series(primitive, args, kwargs, moving, out, found, number)
        for place, where in zip(wanted, (results[place] for place in wanted)):
            _seen(c, where)[...] = found[place]

    def _call_series(self, primitive, args, kwargs, series, out, found, number):
        """Fill in the coefficients of a primitive's results from the first on."""
        order = len(next(iter(series.values()))) - 1
        if primitive.jvp is None:
            raise UndifferentiableError(f"{primitive.name} has no jvp rule: a power series needs one")

        def tangent(flows, value=out):
            return _traced(primitive, primitive.jvp, flows, value, args, kwargs)

        def put(k, parts):
            for place in found:
                part = parts[place] if isinstance(out, tuple) else parts
                if part is not None:
                    found[place][k] = part

        product = (primitive.product or primitive.name in _BILINEAR) and not isinstance(out, tuple)
        linear = not (primitive.keep_args or primitive.keep_out) or product and len(series) == 1
        if linear:
            for k in range(1, order + 1):
                put(k, tangent({i: x[k] for i, x in series.items()}))
        elif product and len(series) == 2:
            (i, x), (j, y) = series.items()
            for k in range(1, order + 1):
                put(k, sum(_traced(primitive, primitive.forward, *_with(args, {i: x[m], j: y[k - m]}), **kwargs)
                           for m in range(k + 1)))
        elif primitive.name == "linalg.solve":      # its rule is linear in the solution that it is given
            for k in range(1, order + 1):
                total = tangent({i: x[k] for i, x in series.items()})
                for m in range(1, k if 0 in series else 1):
                    total = total + tangent({0: series[0][m]}, found[0][k - m])
                put(k, total)
        elif primitive.name == "linalg.inv":
            for k in range(1, order + 1):
                put(k, -out @ sum(series[0][m] @ found[0][k - m] for m in range(1, k + 1)))
        else:
            self._by_rule(primitive, args, kwargs, series, out, found, number)

    def _by_rule(self, primitive, args, kwargs, series, out, found, number):
        """out' = rule(x', out, x), where the rule is recorded and run on series, one coefficient after the other."""
        order, parts = len(next(iter(series.values()))) - 1, out if isinstance(out, tuple) else (out,)
        if number not in self._rules:
            self._rules[number] = _Rule(primitive, args, kwargs, tuple(series), out, tuple(found))
        rule = self._rules[number]
        for k in range(1, order + 1):
            given = [x[:k] for x in series.values()]
            weights = np.arange(1.0, k + 1.0)
            given += [x[1:k + 1] * weights.reshape((k,) + (1,) * (x.ndim - 1)) for x in series.values()]
            given += [found[place][:k] if place in found else np.asarray(part)[None]
                      for place, part in enumerate(parts) if _is_real(part)]
            for place, slope in zip(found, rule.series(given, k - 1)):
                if slope is not None:
                    found[place][k] = slope[k - 1] / k


class _Rule:
    """The rule of a primitive for tangents as a recording, of which arguments, tangents and results are inputs."""

    def __init__(self, primitive, args, kwargs, argnums, out, places):
        tape, self._inputs = Tape("primal"), []
        tape.loans = []
        parts = out if isinstance(out, tuple) else (out,)

        def put_in(value):
            variable = tape.register_input(np.array(value, np.float64) if np.ndim(value) else np.float64(value))
            self._inputs.append(_identifiers(variable))
            return variable

        with tape:
            variables = _with(args, {k: put_in(args[k]) for k in argnums})
            flows = {k: put_in(np.ones(np.shape(args[k]))[()]) for k in argnums}
            results = [put_in(part) if _is_real(part) else part for part in parts]
            result = tuple(results) if isinstance(out, tuple) else results[0]
            found = _traced(primitive, primitive.jvp, flows, result, tuple(variables), kwargs)
            found = found if isinstance(out, tuple) else (found,)
            self._found = [_read(found[place]) for place in places]
        self._program = SeriesProgram(tape, moved=True)

    def series(self, given, order):
        """The coefficients of the tangents of results, those of all inputs being given."""
        given = [x if len(x) > order else np.concatenate((x, np.zeros((order + 1 - len(x), *x.shape[1:]))))
                 for x in given]
        c = self._program.run(list(zip(self._inputs, given)), order)
        found = []
        for identifiers, constant in self._found:
            if identifiers is None:
                found.append(None if constant is None else np.concatenate(
                    (np.asarray(constant, np.float64)[None], np.zeros((order, *np.shape(constant))))))
            else:
                found.append(c[:, identifiers])
                found[-1][0] = np.where(identifiers == 0, constant, found[-1][0])
        return found


def _identifiers(variable):
    from codipy.active.array import identifiers

    return np.asarray(identifiers(variable))


def _read(x):
    """Identifiers and value of what a rule returned; no identifiers of what is no variable."""
    return (_identifiers(x), plain(x)) if is_active(x) else (None, x)


def _is_real(part):
    return getattr(np.asarray(part), "dtype", np.dtype(object)).kind == "f"


def _with(args, replaced):
    return [replaced.get(k, x) for k, x in enumerate(args)]


def _traced(primitive, rule, *args, **kwargs):
    """Run a rule; where it cannot be run so, say whose it is."""
    try:
        return rule(*args, **kwargs)
    except np.linalg.LinAlgError:
        raise
    except Exception as error:      # compiled code has exceptions of its own for what is no plain number
        raise UndifferentiableError(f"{primitive.name} has no power series: its rule raised {type(error).__name__}: "
                                    f"{error}") from error


def _seen(c, where):
    """A view of the coefficients of some identifiers, of their shape behind the first axis."""
    first, shape, strides = where
    if not shape:
        return c[:, first]
    if 0 in shape:
        return np.zeros((len(c), *shape))
    unit = c.strides[1]
    return np.lib.stride_tricks.as_strided(c[:, first:], (len(c), *shape), (c.strides[0], *(unit * s for s in strides)))


def _largest(step):
    """The largest identifier that a step sets."""
    if step[0] == "scalar":
        return step[1]
    if step[0] in ("array", "sum"):
        return _last(step[1])
    if step[0] == "call":
        return max((_last(where) for where in step[1] if where is not None), default=0)
    return step[1] - 1 + (step[2] if step[0] == "block" else step[2].size)


def _last(where):
    first, shape, strides = where
    return first + sum(step * (n - 1) for n, step in zip(shape, strides) if step > 0) if math.prod(shape) else 0


@functools.lru_cache(maxsize=4096)
def _instructions(handle):
    active, program = instructions(handle)
    return active, program, Usual(active, program) if is_usual(program) else None


@functools.lru_cache(maxsize=4096)
def _steps_of(tiles):
    """The steps of an array program, as those of a scalar one."""
    last = len(tiles.steps) - 1
    return [(code, tiles.rounded == _SINGLE_STEPS or tiles.rounded == _SINGLE_RESULT and k == last, sources)
            for k, (code, sources) in enumerate(tiles.steps)]


def _evaluated(leaves, active, program, order, gated=False):
    """The coefficients of an expression; of each leaf it is said whether it is a series."""
    memo = Memo(gated)
    registers = [Given(memo, leaf) if is_series else leaf for leaf, is_series in zip(leaves, active)]
    for code, is_single, sources in program:
        operands = tuple([registers[k] for k in sources])
        found = of_row(code, operands) if any(isinstance(x, Node) for x in operands) else VALUES[code](*operands)
        if is_single:
            found = of_row(_SINGLE, (found,)) if isinstance(found, Node) else rounded(found)
        registers.append(found)
    last = registers[-1]
    if not isinstance(last, Node):
        found = np.zeros((order + 1, *np.shape(last)))
        found[0] = last
        return found
    found = last.upto(order)
    if not gated and np.isnan(found).any():
        return _evaluated(leaves, active, program, order, True)
    return found
