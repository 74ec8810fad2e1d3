# SPDX-License-Identifier: Apache-2.0
"""Splines on the grid of an image, and their values at other places: what `scipy.ndimage` interpolates with.

The value at a place is a sum over the (order + 1)^d coefficients around it, each times a product of B-splines of the
coordinates. `_sampled` is that sum, or a derivative of it, `_scattered` its transpose by the coefficients: each is the
rule of the other, and the derivative by a coordinate is that of one order more. Beyond the edges a coordinate is taken
to another one inside, which turns the sign of a derivative where it is reflected. See M. Unser, A. Aldroubi, M. Eden,
B-spline signal processing, IEEE Transactions on Signal Processing 41 (1993), on the splines and their prefilter.
"""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from math import comb, factorial

import numpy as np
from numpy.polynomial import Polynomial
from scipy.ndimage import _nd_image as _compiled
from scipy.signal import lfilter

from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse
from codipy.numpy.primitive import Primitive
from codipy.scipy.calls import kept
from codipy.scipy.kernels.bilinear import Linear, applied
from codipy.scipy.kernels.calls import float_type, on_values, write
from codipy.scipy.kernels.edges import CONSTANT, GRID_CONSTANT, GRID_WRAP, NEAREST, REFLECT, WRAP

__all__ = ["LOOPS"]


# ---- coefficients of splines


def _filtered(x, order, axis, mode, dtype):
    made = np.zeros(x.shape, dtype)
    _compiled.spline_filter1d(x, order, axis, made, mode)
    return made


def _filtered_back(g, shape, order, axis, mode, dtype):
    """The transpose; the equations are symmetric, but of the values at the edges where these are mirrors."""
    g = np.asarray(g, float)
    if shape[axis] == 1:
        return _filtered(g, order, axis, mode, "float64")
    if mode in (REFLECT, NEAREST) and not _is_symmetric():
        return np.moveaxis(_reflected_back(np.moveaxis(g, axis, -1), order), -1, axis)
    weights = np.ones([n if k == axis else 1 for k, n in enumerate(shape)])
    if mode not in (GRID_WRAP, REFLECT, NEAREST):
        weights.flat[0] = weights.flat[-1] = 2.0
    return _filtered(g * weights, order, axis, mode, "float64") / weights


@functools.cache
def _is_symmetric():
    """Whether SciPy solves the equations of reflected edges exactly, as it does from 1.18 on."""
    found = _filtered(np.eye(2), 5, 1, REFLECT, "float64")
    return bool(np.isclose(found[0, 1], found[1, 0], rtol=1e-13))


# Roots inside of the unit circle of the splines' values at whole numbers.
_POLES = {order: [root for root in np.roots(values).real if abs(root) < 1.0]
          for order, values in ((2, [1, 6, 1]), (3, [1, 4, 1]), (4, [1, 76, 230, 76, 1]), (5, [1, 26, 66, 26, 1]))}


def _reflected_back(g, order):
    """Where SciPy up to 1.17 reflects edges: its first value is not quite that of the equations, shown in few values.

    Each pole has a recursion forwards, from a sum over all values, and one backwards; here they are run the other way.
    """
    n, poles = g.shape[-1], _POLES[order]
    for pole in reversed(poles):
        down = lfilter([1.0], [1.0, -pole], g)
        down[..., :-1] *= -pole
        down[..., -1] *= pole / (pole - 1.0)
        g = lfilter([1.0], [1.0, -pole], down[..., ::-1])[..., ::-1]
        first = g[..., :1].copy()
        g = g * (np.arange(n) > 0) + first * _first_value(n, pole)
    return g * np.prod([(1.0 - pole) * (1.0 - 1.0 / pole) for pole in poles])


def _first_value(n, pole):
    """How the first value of a recursion, as SciPy starts it, depends on all values: the last term reads the sum."""
    powers, whole = pole ** np.arange(n), pole**n
    row = powers * (np.arange(n) < n - 1)
    row[1:-1] += whole * powers[-2:0:-1]
    row[-1] += whole
    row *= 1.0 + powers[-1] * whole
    row[-1] += powers[-1]
    row *= pole / (1.0 - whole * whole)
    row[0] += 1.0
    return row


_FILTER = Linear("scipy.ndimage.spline_filter1d", _filtered, _filtered_back, {"dtype": "float64"})


def _spline_filter1d(x, order, axis, output, mode):
    if not holds_active((x, output)):
        return on_values(_compiled.spline_filter1d, (x, order, axis, output, mode))
    name = float_type("scipy.ndimage", output)
    return write(output, _FILTER(as_numbers(x), order=int(order), axis=int(axis), mode=int(mode), dtype=name))


# ---- B-splines around a coordinate, as polynomials of its distance from the middle


@functools.cache
def _polynomials(order, degree):
    """The derivatives of this degree of the B-splines that are not zero there."""
    shift, found = Fraction(0 if order % 2 else 1, 2), []
    for k in range(order + 1):
        total = Polynomial([Fraction(0)])
        for j in range(order - k + 1):
            factor = Fraction((-1) ** j * comb(order + 1, j), factorial(order))
            total = total + Polynomial([order - k - j + shift, Fraction(1)]) ** order * factor
        coefficients = list(total.coef)
        for _ in range(degree):
            coefficients = [n * c for n, c in enumerate(coefficients)][1:] or [Fraction(0)]
        found.append([float(c) for c in coefficients])
    return found


def _weights(distance, order, degree):
    return [functools.reduce(lambda total, c: total * distance + c, reversed(row), np.zeros_like(distance))
            for row in _polynomials(order, degree)]  # fmt: skip


# ---- coordinates beyond the edges


_FAR = 8.0  # from an edge, where all coefficients of any order are beyond it


def _mapped(x, n, mode):
    """The coordinate inside, the slope of that, and whether there is one; as SciPy has it, to the last bit if near."""
    below, above = x < 0.0, x > n - 1
    slope, is_inside = np.ones(x.shape), np.ones(x.shape, bool)
    if mode in (NEAREST, GRID_CONSTANT):  # it stays where it is, and the coefficients there are others
        return np.clip(x, -_FAR, n + _FAR), slope, is_inside
    if mode == CONSTANT:
        return np.where(below | above, 0.0, x), slope, ~(below | above)
    if n <= 1:
        return np.clip(x, 0.0, n - 1.0), np.where(below | above, 0.0, 1.0), is_inside
    if mode == WRAP:
        period = n - 1
        inner = np.where(below, x + period * (np.trunc(-x / period) + 1), x - period * np.trunc(x / period))
        return np.where(below | above, inner, x), slope, is_inside
    if mode == GRID_WRAP:
        inner = np.where(below, x + n * (np.trunc((-1 - x) / n) + 1), x - n * np.trunc(x / n))
        return np.where(below | above, inner, x), slope, is_inside
    edge, period = (1, 2 * n) if mode == REFLECT else (0, 2 * n - 2)
    rest = np.where(below, period * np.trunc(-x / period) + x, x - period * np.trunc(x / period))
    far = rest < -n if mode == REFLECT else rest <= 1 - n
    turned = np.where(below, ~far, rest >= n) & (below | above)
    inner = np.where(below, np.where(far, rest + period, -rest - edge), np.where(rest >= n, period - rest - edge, rest))
    return np.where(below | above, inner, x), np.where(turned, -1.0, 1.0), is_inside


def _places(start, n, mode):
    """The coefficients beyond the edges, -1 for none."""
    if mode == GRID_CONSTANT:
        return np.where((start < 0) | (start >= n), -1, start)
    if mode == NEAREST or n == 1:
        return np.clip(start, 0, n - 1)
    if mode == GRID_WRAP:
        return start % n
    period, edge = (2 * n, 1) if mode == REFLECT else (2 * n - 2, 0)
    rest = start % period
    return np.where(rest >= n, period - edge - rest, rest)


def _around(x, n, order, mode, degree):
    """Of one axis: places of coefficients, their weights, and whether the value is one of the image."""
    x, _, is_inside = _mapped(np.asarray(x, float), n, mode)
    middle = np.floor(x) if order % 2 else np.floor(x + 0.5)
    places = [_places((middle - order // 2 + k).astype(np.intp), n, mode) for k in range(order + 1)]
    return places, _weights(x - middle, order, degree), is_inside


def _terms(shape, coordinates, order, mode, degrees):
    """For each coefficient around a place its flat number, -1 for none, and its weight; where there are any."""
    axes = [_around(x, n, order, mode, degree) for x, n, degree in zip(coordinates, shape, degrees)]
    is_inside = functools.reduce(np.logical_and, [axis[2] for axis in axes])
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]

    def terms():
        for each in itertools.product(range(order + 1), repeat=len(shape)):
            parts = [axis[0][k] for axis, k in zip(axes, each)]
            weight = functools.reduce(np.multiply, [axis[1][k] for axis, k in zip(axes, each)])
            number = sum(part * int(stride) for part, stride in zip(parts, strides))
            if mode == GRID_CONSTANT:
                lost = functools.reduce(np.logical_or, [part < 0 for part in parts])
                number = np.where(lost, -1, number)
            yield number, np.where(is_inside, weight, 0.0)

    return terms()


# ---- values at places, and what goes back from there


def _valued(c, *coordinates, order, mode, cval, degrees):
    """The derivative of these degrees at places, whose coordinates are broadcast against one another."""
    flat = np.append(np.ravel(np.asarray(c, float)), cval)
    total = np.zeros(np.broadcast_shapes(*map(np.shape, coordinates)))
    for number, weight in _terms(np.shape(c), coordinates, order, mode, degrees):
        total += flat[number] * weight
    return total


def _collected(g, *coordinates, order, mode, degrees, shape):
    """The transpose of `_valued`, without the constant, by the coefficients."""
    size = int(np.prod(shape))
    total = np.zeros(size + 1)
    for number, weight in _terms(shape, coordinates, order, mode, degrees):
        flow = np.ravel(np.broadcast_to(g * weight, g.shape))
        number = np.ravel(np.broadcast_to(np.where(number < 0, size, number), g.shape))
        total += np.bincount(number, flow, size + 1)
    return total[:size].reshape(shape)


def _raised(degrees, axis):
    return tuple(degree + (k == axis) for k, degree in enumerate(degrees))


def _slope(x, n, mode):
    return _mapped(np.asarray(value_of(x), float), n, mode)[1]


def _fitted(flow, x):
    """The flow through a coordinate that was broadcast."""
    shape = np.shape(x)
    axes = tuple(k for k, (n, m) in enumerate(zip(shape, np.shape(flow))) if n != m)
    return np.sum(flow, axis=axes, keepdims=True) if axes else flow


def _sampled(c, coordinates, options):
    return applied(_SAMPLED, (c, *coordinates), options)


def _scattered(g, coordinates, options, shape):
    options = {key: value for key, value in options.items() if key != "cval"}
    return applied(_SCATTERED, (g, *coordinates), {**options, "shape": tuple(shape)})


def _by_coordinate(c, coordinates, options, axis):
    """The derivative by a coordinate, of the shape of the values."""
    higher = {**options, "degrees": _raised(options["degrees"], axis)}
    if higher["degrees"][axis] > options["order"]:
        return np.zeros(np.broadcast_shapes(*map(np.shape, coordinates)))
    return _sampled(c, coordinates, higher) * _slope(coordinates[axis], np.shape(c)[axis], options["mode"])


def _sampled_vjp(g, out, args, kwargs, argnums):
    c, *coordinates = args
    return [_fitted(g * _by_coordinate(c, coordinates, kwargs, k - 1), coordinates[k - 1]) if k
            else _scattered(g, coordinates, kwargs, np.shape(c)) for k in argnums]  # fmt: skip


def _sampled_jvp(tangents, out, args, kwargs):
    c, *coordinates = args
    total = _sampled(tangents[0], coordinates, {**kwargs, "cval": 0.0}) if 0 in tangents else 0.0
    for k, moved in tangents.items():
        if k:
            total = total + _by_coordinate(c, coordinates, kwargs, k - 1) * moved
    return total


def _linear_options(kwargs):
    return {**{key: value for key, value in kwargs.items() if key != "shape"}, "cval": 0.0}


def _scattered_vjp(b, out, args, kwargs, argnums):
    g, *coordinates = args
    options = _linear_options(kwargs)
    return [_fitted(g * _by_coordinate(b, coordinates, options, k - 1), coordinates[k - 1]) if k
            else _sampled(b, coordinates, options) for k in argnums]  # fmt: skip


def _scattered_jvp(tangents, out, args, kwargs):
    g, *coordinates = args
    total = applied(_SCATTERED, (tangents[0], *coordinates), kwargs) if 0 in tangents else 0.0
    for k, moved in tangents.items():
        if k:
            slope = _slope(coordinates[k - 1], kwargs["shape"][k - 1], kwargs["mode"])
            higher = {**kwargs, "degrees": _raised(kwargs["degrees"], k - 1)}
            if higher["degrees"][k - 1] <= kwargs["order"]:
                total = total + applied(_SCATTERED, (g * slope * moved, *coordinates), higher)
    return total + np.zeros(kwargs["shape"])


_SAMPLED = kept(Primitive("scipy.ndimage.values of a spline", _valued, _sampled_vjp, _sampled_jvp, keep_out=False,
                          linear=(0,)))  # fmt: skip
_SCATTERED = kept(Primitive("scipy.ndimage.coefficients of a spline", _collected, _scattered_vjp, _scattered_jvp,
                            keep_out=False, linear=(0,)))  # fmt: skip


# ---- SciPy's loops: a form says which coordinates its numbers make


class _Form:
    """Coordinates in the image, by the numbers that a loop is given.

    Parameters
    ----------
    name : str
    run : callable
        ``run(c, *numbers, made, order, mode, cval, npad, grid)`` fills `made`.
    coordinates : callable
        ``coordinates(numbers, shape, grid)``: those of each axis for a result of this shape.
    """

    def __init__(self, name, run, coordinates):
        self._run, self._coordinates = run, coordinates
        self.primitive = kept(Primitive(f"scipy.ndimage.{name}", self._value, self._vjp, self._jvp, keep_out=False,
                                        linear=(0,)))  # fmt: skip

    def _value(self, c, *numbers, shape, dtype, order, mode, cval, npad, grid):
        made = np.zeros(shape, dtype)
        self._run(c, *numbers, made=made, order=order, mode=mode, cval=cval, npad=npad, grid=grid)
        return made

    def _places(self, numbers, kwargs):
        found = self._coordinates(numbers, kwargs["shape"], kwargs["grid"])
        return [x + kwargs["npad"] for x in found] if kwargs["npad"] else found

    @staticmethod
    def _options(c, kwargs):
        return {"order": kwargs["order"], "mode": kwargs["mode"], "cval": kwargs["cval"], "degrees": (0,) * np.ndim(c)}

    def _vjp(self, g, out, args, kwargs, argnums):
        c, *numbers = args
        places, options = self._places(numbers, kwargs), self._options(c, kwargs)
        bars = {}
        if 0 in argnums:
            bars[0] = _scattered(g, places, options, np.shape(c))
        if any(argnums):
            flows = [g * _by_coordinate(c, places, options, k) for k in range(np.ndim(c))]
            bars |= dict(enumerate(self.pulled(flows, numbers, kwargs["shape"], kwargs["grid"]), 1))
        return [bars[k] for k in argnums]

    def _jvp(self, tangents, out, args, kwargs):
        c, *numbers = args
        total = 0.0
        if 0 in tangents:
            total = applied(self.primitive, (tangents[0], *numbers), {**kwargs, "cval": 0.0, "dtype": "float64"})
        moved = [tangents.get(k + 1) for k in range(len(numbers))]
        if any(x is not None for x in moved):
            places, options = self._places(numbers, kwargs), self._options(c, kwargs)
            for k, step in enumerate(self.pushed(moved, numbers, kwargs["shape"], kwargs["grid"])):
                total = total + _by_coordinate(c, places, options, k) * step
        return total


class _AtPoints(_Form):
    """Of `map_coordinates`: the coordinates themselves, one row for each axis."""

    def __init__(self):
        super().__init__("map_coordinates", self._looped, lambda numbers, shape, grid: list(numbers[0]))

    @staticmethod
    def _looped(c, coordinates, made, order, mode, cval, npad, grid):
        _compiled.geometric_transform(c, None, coordinates, None, None, made, order, mode, cval, npad, None, None)

    @staticmethod
    def pulled(flows, numbers, shape, grid):
        return [np.stack(flows)]

    @staticmethod
    def pushed(moved, numbers, shape, grid):
        return list(moved[0])


def _grid(shape):
    """The places of a result by axis, which are broadcast against one another."""
    return np.ogrid[tuple(slice(0, n) for n in shape)] if len(shape) > 1 else [np.arange(shape[0])]


class _Affine(_Form):
    """A matrix times the places of the result, and an offset."""

    def __init__(self):
        super().__init__("affine_transform", self._looped, self._affine)

    @staticmethod
    def _looped(c, matrix, offset, made, order, mode, cval, npad, grid):
        matrix, offset = np.array(matrix, float, order="C"), np.array(offset, float)
        _compiled.geometric_transform(c, None, None, matrix, offset, made, order, mode, cval, npad, None, None)

    @staticmethod
    def _affine(numbers, shape, grid):
        matrix, offset = numbers
        steps = _grid(shape)
        return [sum(step * matrix[k, n] for n, step in enumerate(steps)) + offset[k] for k in range(len(offset))]

    @staticmethod
    def pulled(flows, numbers, shape, grid):
        steps = _grid(shape)
        rows = [np.stack([np.sum(flow * step) for step in steps]) for flow in flows]
        return [np.stack(rows), np.stack([np.sum(flow) for flow in flows])]

    @staticmethod
    def pushed(moved, numbers, shape, grid):
        by_matrix, by_offset = moved
        by_matrix = np.zeros(np.shape(numbers[0])) if by_matrix is None else by_matrix
        by_offset = np.zeros(np.shape(numbers[1])) if by_offset is None else by_offset
        return _Affine._affine((by_matrix, by_offset), shape, grid)


class _Zoom(_Form):
    """For each axis by itself: an offset is added to the place, and the sum taken times a factor."""

    def __init__(self):
        super().__init__("zoom", self._looped, self._zoomed)

    @staticmethod
    def _looped(c, factors, offsets, made, order, mode, cval, npad, grid):
        given = [np.array(x, float) if x.size else None for x in (factors, offsets)]
        _compiled.zoom_shift(c, *given, made, order, mode, cval, npad, grid)

    @staticmethod
    def _shifted(offsets, shape, grid):
        steps = _grid(shape)
        if np.size(offsets):
            steps = [step + offsets[k] for k, step in enumerate(steps)]
        return [step + 0.5 for step in steps] if grid else steps

    @staticmethod
    def _zoomed(numbers, shape, grid):
        factors, offsets = numbers
        steps = _Zoom._shifted(offsets, shape, grid)
        if np.size(factors):
            steps = [step * factors[k] for k, step in enumerate(steps)]
        return [step - 0.5 for step in steps] if grid else [step * 1.0 for step in steps]

    @staticmethod
    def pulled(flows, numbers, shape, grid):
        factors, offsets = numbers
        steps, found = _Zoom._shifted(offsets, shape, grid), []
        by_factors = [np.sum(flow * step) for flow, step in zip(flows, steps)]
        sums = [np.sum(flow) for flow in flows]
        found.append(np.stack(by_factors) if np.size(factors) else np.zeros(0))
        if np.size(offsets):
            found.append(np.stack(sums) * factors if np.size(factors) else np.stack(sums))
        else:
            found.append(np.zeros(0))
        return found

    @staticmethod
    def pushed(moved, numbers, shape, grid):
        factors, offsets = numbers
        steps, found = _Zoom._shifted(offsets, shape, grid), []
        for k, step in enumerate(steps):
            total = 0.0
            if moved[0] is not None:
                total = total + moved[0][k] * step
            if moved[1] is not None:
                total = total + (moved[1][k] * factors[k] if np.size(factors) else moved[1][k])
            found.append(total)
        return found


_POINTS, _AFFINE, _ZOOM = _AtPoints(), _Affine(), _Zoom()
_NONE = np.zeros(0)


def _transformed(form, args, output, order, mode, cval, npad, grid=False):
    options = {"shape": tuple(output.shape), "dtype": float_type("scipy.ndimage", output), "order": int(order),
               "mode": int(mode), "cval": float(cval), "npad": int(npad), "grid": bool(grid)}  # fmt: skip
    write(output, applied(form.primitive, tuple(map(as_numbers, args)), options))


def _geometric_transform(x, mapping, coordinates, matrix, shift, output, order, mode, cval, npad, *more):
    if not holds_active((x, coordinates, matrix, shift, output)):
        args = x, mapping, coordinates, matrix, shift, output, order, mode, cval, npad, *more
        return on_values(_compiled.geometric_transform, args)
    if mapping is not None:
        refuse("scipy.ndimage.geometric_transform", "SciPy's loop calls the mapping: take `map_coordinates(input, "
               "coordinates)` with the coordinates that it gives")  # fmt: skip
    if coordinates is not None:
        return _transformed(_POINTS, (x, coordinates), output, order, mode, cval, npad)
    return _transformed(_AFFINE, (x, matrix, shift), output, order, mode, cval, npad)


def _zoom_shift(x, zoom, shift, output, order, mode, cval, npad, grid_mode):
    if not holds_active((x, zoom, shift, output)):
        args = x, zoom, shift, output, order, mode, cval, npad, grid_mode
        return on_values(_compiled.zoom_shift, args)
    numbers = [_NONE if numbers is None else numbers for numbers in (zoom, shift)]
    return _transformed(_ZOOM, (x, *numbers), output, order, mode, cval, npad, grid_mode)


LOOPS = {"spline_filter1d": _spline_filter1d, "geometric_transform": _geometric_transform, "zoom_shift": _zoom_shift}
