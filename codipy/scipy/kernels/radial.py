# SPDX-License-Identifier: Apache-2.0
"""Loops of `scipy.interpolate.RBFInterpolator`: matrices of radial functions and monomials, by points and sites."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _rbfinterp_pythran as _compiled

from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.numpy.modules import module_for
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS", "RADIAL"]


_IS_ZERO = decision("scipy.interpolate distances of 0", lambda square: square == 0.0)


def _at_distance(function):
    """A function of the squared distance, constant where that is 0: there the slope of those with a kink is 0."""

    def of_square(square):
        keep(_IS_ZERO, (square,))
        is_zero = value_of(square) == 0.0
        return np.where(is_zero, 0.0, function(np.where(is_zero, 1.0, square)))

    return of_square


# Of the squared distance.
RADIAL = {
    "linear": _at_distance(lambda s: -np.sqrt(s)),
    "thin_plate_spline": _at_distance(lambda s: 0.5 * s * np.log(s)),
    "cubic": _at_distance(lambda s: s * np.sqrt(s)),
    "quintic": _at_distance(lambda s: -s * s * np.sqrt(s)),
    "multiquadric": lambda s: -np.sqrt(s + 1.0),
    "inverse_multiquadric": lambda s: 1.0 / np.sqrt(s + 1.0),
    "inverse_quadratic": lambda s: 1.0 / (s + 1.0),
    "gaussian": lambda s: np.exp(-s),
}


def _radial(x, y, kernel, epsilon):
    steps = (x[:, None] - y[None]) * epsilon
    return RADIAL[kernel](np.sum(steps * steps, axis=-1))


def _monomials(x, powers):
    columns = []
    for row in powers:
        column = np.ones(len(x))
        for axis, power in enumerate(row):
            for _ in range(power):
                column = column * x[:, axis]
        columns.append(column)
    return np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))


def _own(args):
    return [np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in value_tree(list(args))]


def _polynomial_matrix(x, powers):
    if not holds_active((x,)):
        return _compiled._polynomial_matrix(*_own((x, powers)))
    x, powers = as_numbers(x), np.array(value_of(powers))
    return with_values_of("RBFInterpolator", lambda x: _compiled._polynomial_matrix(x, powers), (x,),
                          _monomials(x, powers))  # fmt: skip


def _build_system(y, d, smoothing, kernel, epsilon, powers):
    plain = _own((y, d, smoothing, kernel, epsilon, powers))
    found = _compiled._build_system(*plain)
    if not holds_active((y, d, smoothing, epsilon)):
        return found
    y, d, smoothing, powers = as_numbers(y), as_numbers(d), as_numbers(smoothing), plain[-1]
    lhs, _, shift, scale = found
    rhs = np.concatenate([d, np.zeros((len(powers), d.shape[1]))])
    operands = y, smoothing, epsilon

    def part(which):
        return lambda y, smoothing, epsilon: _compiled._build_system(y, plain[1], smoothing, kernel, float(epsilon),
                                                                     powers)[which]  # fmt: skip

    if holds_active((y,)):
        low, high = np.min(y, axis=0), np.max(y, axis=0)
        shift, is_flat = (high + low) / 2.0, value_of(high) == value_of(low)
        scale = np.where(is_flat, 1.0, (high - low) / 2.0)
        shift, scale = (with_values_of("RBFInterpolator", part(k), operands, formula) for k, formula in
                        ((2, shift), (3, scale)))  # fmt: skip
    if holds_active(operands):
        monomials, count = _monomials((y - shift) / scale, powers), len(powers)
        whole = np.concatenate([
            np.concatenate([_radial(y, y, kernel, epsilon) + np.diag(smoothing), monomials], axis=1),
            np.concatenate([monomials.T, np.zeros((count, count))], axis=1),
        ])  # fmt: skip
        lhs = with_values_of("RBFInterpolator", part(0), operands, whole)
    return lhs, rhs, shift, scale


def _build_evaluation_coefficients(x, y, kernel, epsilon, powers, shift, scale):
    plain = _own((x, y, kernel, epsilon, powers, shift, scale))
    if not holds_active((x, y, epsilon, shift, scale)):
        return _compiled._build_evaluation_coefficients(*plain)
    powers = plain[4]
    x, y, shift, scale = map(as_numbers, (x, y, shift, scale))

    def run(x, y, epsilon, shift, scale):
        return _compiled._build_evaluation_coefficients(x, y, kernel, float(epsilon), powers, shift, scale)

    formula = np.concatenate([_radial(x, y, kernel, epsilon), _monomials((x - shift) / scale, powers)], axis=1)
    return with_values_of("RBFInterpolator", run, (x, y, epsilon, shift, scale), formula)


FUNCTIONS = {"_polynomial_matrix": _polynomial_matrix, "_build_system": _build_system,
             "_build_evaluation_coefficients": _build_evaluation_coefficients}  # fmt: skip
_rbfinterp_pythran = module_for(_compiled, FUNCTIONS)
