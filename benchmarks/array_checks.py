# SPDX-License-Identifier: Apache-2.0
"""No benchmark measures a wrong gradient: values bit for bit NumPy's, gradients against central differences."""
import numpy as np


def differences(function, arguments, argnums, step=1e-6):
    """Central differences by each element of the arguments at `argnums`; for small arguments."""
    found = []
    for number in argnums:
        gradient = np.zeros_like(arguments[number])
        for index in np.ndindex(gradient.shape):
            ends = []
            for move in (step, -step):
                moved = [np.array(a) if n == number else a for n, a in enumerate(arguments)]
                moved[number][index] += move
                ends.append(float(function(*moved)))
            gradient[index] = (ends[0] - ends[1]) / (2.0 * step)
        found.append(gradient)
    return tuple(found)


def check_value(value, plain):
    """The recorded value is a plain number, bit for bit that of the plain run."""
    if not isinstance(value, float):
        raise AssertionError(f"the value is a {type(value).__name__}, not a float")
    if not value == plain:
        raise AssertionError(f"recorded value {value!r}, plain value {plain!r}")


def check_small(point, driver, exact=True):
    """Value, shapes and each element of the gradients at the small size; arguments are left alone.

    `driver` takes the arguments of the point's function and returns (value, tuple of gradients). Other packages sum in
    another order: for them `exact` is False.
    """
    arguments = point.start(**point.small)
    before = [np.array(argument) for argument in arguments]
    value, gradients = driver(*arguments)
    if any((np.asarray(argument) != old).any() for argument, old in zip(arguments, before)):
        raise AssertionError("the gradient changed an argument of the function")
    if exact:
        check_value(value, float(point.function(*arguments)))
    expected = differences(point.function, arguments, point.argnums)
    if len(gradients) != len(expected):
        raise AssertionError(f"{len(gradients)} gradients for {len(expected)} arguments")
    scale = max(np.max(np.abs(gradient)) for gradient in expected)
    for number, gradient, other in zip(point.argnums, gradients, expected):
        if np.shape(gradient) != other.shape:
            raise AssertionError(f"argument {number}: gradient of shape {np.shape(gradient)} for {other.shape}")
        worst = float(np.max(np.abs(np.asarray(gradient) - other)))
        if not worst <= 1e-7 * max(scale, 1.0):
            raise AssertionError(f"argument {number}: gradient and central differences differ by {worst:.3g}")


def check_direction(point, arguments, value, gradients, exact=True, step=1e-6):
    """Value, and the gradients along one random direction, at the size of the figure."""
    if exact:
        check_value(value, float(point.function(*arguments)))
    numbers = np.random.default_rng(5)
    directions = {number: numbers.standard_normal(np.shape(arguments[number])) for number in point.argnums}
    ends = [float(point.function(*(a + move * directions[n] if n in directions else a
                                   for n, a in enumerate(arguments)))) for move in (step, -step)]
    parts = [np.asarray(gradient) * directions[number] for number, gradient in zip(point.argnums, gradients)]
    slope, other = sum(float(part.sum()) for part in parts), (ends[0] - ends[1]) / (2.0 * step)
    # A random direction hides no element: the parts' root of squares is what the slope is expected to be like.
    scale = sum(float((part * part).sum()) for part in parts) ** 0.5
    if not abs(slope - other) <= 1e-5 * scale + 1e-14 / step * abs(ends[0]):
        raise AssertionError(f"along a direction the gradient has slope {slope!r}, central differences {other!r}")
