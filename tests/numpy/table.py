# SPDX-License-Identifier: Apache-2.0
"""Runs an expression of NumPy on Arrays: value against plain NumPy bit for bit, gradient against differences."""

import ast

import numpy as np

import codipy
from codipy.active.array import Array

_rng = np.random.default_rng(5)


def _spread(*shape):
    """Distinct values in (-2, 2), apart by more than a difference quotient's step, none near 0 or a whole number."""
    count = int(np.prod(shape))
    grid = np.linspace(-1.94, 1.96, count + 1)[:count] + _rng.uniform(0.001, 0.03)
    return _rng.permutation(grid).reshape(shape)


# What expressions may use. `r` is a Real, `o` and `e` a 0-d and an empty Array.
INPUTS = {
    "x": _spread(5),
    "y": _spread(5),
    "z": _spread(7),
    "m": _spread(3, 4),
    "n": _spread(3, 4),
    "q": _spread(3, 3) + 2 * np.eye(3),
    "h": _spread(3, 3),
    "t": _spread(2, 3, 4),
    "b": _spread(3, 1),
    "p": np.abs(_spread(5)) + 0.3,
    "w": np.abs(_spread(5)) + 0.1,
    "u": np.sort(_spread(6)),
    "v": _spread(3),
    "o": np.array(0.7),
    "e": np.zeros((0, 3)),
    "r": 0.37,
}
# Passive things that expressions may use.
PLAIN = {"np": np, "mask": INPUTS["m"] > 0.2, "k": np.array([2, 0, 1]), "a": np.arange(12.0).reshape(3, 4) / 7}
STEP = 1e-6


def names_in(text):
    """The active inputs of an expression."""
    found = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return sorted(found & INPUTS.keys())


def leaves(tree):
    """The results of a call, whatever they come in."""
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


def evaluate(text, values):
    """The expression at these values."""
    return eval(text, {**PLAIN, **values})


def plain_results(text, values):
    """What NumPy gives for plain arrays."""
    return leaves(evaluate(text, {name: values[name].copy() if np.ndim(values[name]) else values[name]
                                  for name in values}))  # fmt: skip


def plain_values(names):
    """Copies of the inputs; a Real is a NumPy scalar."""
    return {name: np.float64(INPUTS[name]) if name == "r" else INPUTS[name].copy() for name in names}


def is_float(x):
    """Whether a result can be differentiated."""
    return np.asarray(x).dtype.kind == "f"


def same(found, expected):
    """Whether a result is NumPy's: type, shape, dtype, bits."""
    kinds = {Array: np.ndarray, codipy.Real: np.floating}
    kind = kinds.get(type(found), type(found))
    value = found.value if type(found) in kinds else found
    if not (isinstance(expected, kind) or isinstance(expected, float) and kind is np.floating):
        return False
    one, two = np.asarray(value), np.asarray(expected)
    if one.dtype.kind in "fc":
        return one.shape == two.shape and one.dtype == two.dtype and np.array_equal(one, two, equal_nan=True)
    return one.shape == two.shape and one.dtype == two.dtype and bool(np.all(one == two))


def inputs(tape, names):
    """The inputs on a tape; what is 0-d is an Array too, except `r`."""
    values = plain_values(names)
    return {name: tape.register_input(x if name == "r" else Array(x)) for name, x in values.items()}


def record(text, strategy="jacobian"):
    """Run the expression on a tape: the tape, the inputs, and the results."""
    tape = codipy.Tape(strategy=strategy)
    with tape:
        active = inputs(tape, names_in(text))
        results = leaves(evaluate(text, active))
        active_results = [y for y in results if type(y) in (Array, codipy.Real) and y.is_active]
        for y in active_results:
            tape.register_output(y)
    return tape, active, results, active_results


def weights_for(results):
    """A seed for each result."""
    rng = np.random.default_rng(3)
    return [rng.uniform(0.5, 1.5, np.shape(np.asarray(y))) if is_float(y) else None for y in results]


def active_of(results):
    """The positions of the active results, and these."""
    return [(k, y) for k, y in enumerate(results) if type(y) in (Array, codipy.Real) and y.is_active]


def reverse(recorded, weights):
    """Gradients of the weighted sum of all float results."""
    tape, active, results, _ = recorded
    tape.clear_adjoints()
    for k, y in active_of(results):
        y.gradient = y.gradient + (weights[k] if type(y) is Array else float(weights[k]))
    tape.evaluate()
    return {name: np.asarray(x.gradient) for name, x in active.items()}


def forward(recorded, weights, tangents):
    """The derivative of the weighted sum along tangents of the inputs."""
    tape, active, results, _ = recorded
    tape.clear_adjoints()
    for name, x in active.items():
        x.gradient = tangents[name] if type(x) is Array else float(tangents[name])
    tape.evaluate_forward()
    return sum(np.sum(y.gradient * weights[k]) for k, y in active_of(results))


def differences(text, weights):
    """The same gradients by central differences."""
    names = names_in(text)

    def loss(values):
        results = plain_results(text, values)
        return sum(np.sum(y * weight) for y, weight in zip(results, weights) if weight is not None)

    gradients = {}
    for name in names:
        gradient = np.zeros(np.shape(INPUTS[name]))
        for index in np.ndindex(gradient.shape):
            sides = []
            for sign in (1, -1):
                values = plain_values(names)
                moved = np.array(values[name])
                moved[index] += sign * STEP
                values[name] = moved[()] if name == "r" else moved
                sides.append(loss(values))
            gradient[index] = (sides[0] - sides[1]) / (2 * STEP)
        gradients[name] = gradient
    return gradients


def check(text, strategy="jacobian"):
    """Assert that values are NumPy's bit for bit, gradients those of differences, and forward sweeps agree."""
    expected = plain_results(text, plain_values(names_in(text)))
    weights = weights_for(expected)
    recorded = record(text, strategy)
    results, gradients = recorded[2], reverse(recorded, weights)
    assert len(results) == len(expected), text
    for number, (found, wanted) in enumerate(zip(results, expected)):
        assert same(found, wanted), f"{text}, result {number}: {found!r} is not {wanted!r}"
    for name, gradient in differences(text, weights).items():
        np.testing.assert_allclose(gradients[name], gradient, 2e-5, 2e-6, err_msg=f"{text}, gradient of {name}")
    tangents = {name: weights_for([gradient])[0] for name, gradient in gradients.items()}
    expected = sum(np.sum(gradients[name] * tangent) for name, tangent in tangents.items())
    np.testing.assert_allclose(forward(recorded, weights, tangents), expected, 1e-9, 1e-9, err_msg=f"{text}, forward")
