# SPDX-License-Identifier: Apache-2.0
"""What does the form of what is differentiated by cost, where the function takes no time beside it?

Each gradient stands beside that of the same formula by the form that costs least: a list of numbers, one array. What is
more takes the form apart, puts it together again, twice, and looks for what is written to it under another name.
"""
from collections import namedtuple
from dataclasses import dataclass
from functools import partial

from timing import Figure, in_turns, ratio


@dataclass
class Point:
    """Three numbers."""

    x: float
    y: float
    z: float


Layer = namedtuple("Layer", "weights bias")


def of_numbers(p):
    """Three numbers by their places."""
    return p[0] * p[1] + p[2]


def of_rows(p):
    """The same numbers, in a list of lists."""
    return p[0][0] * p[1][0] + p[1][1]


def of_names(p):
    """The same, in a dict."""
    return p["x"] * p["y"] + p["z"]


def of_point(p):
    """The same, in a dataclass."""
    return p.x * p.y + p.z


def of_array(p):
    """Four rows of an array."""
    return (p[0] * p[1] + p[2] * p[3]).sum()


def of_layers(p):
    """The same, in nested dicts."""
    return (p["first"]["x"] * p["first"]["y"] + p["second"]["x"] * p["second"]["y"]).sum()


def of_tuples(p):
    """The same, in a list of named tuples."""
    return (p[0].weights * p[0].bias + p[1].weights * p[1].bias).sum()


def forms():
    """For each form the function and its argument, and those of the form that costs least."""
    import numpy as np

    rows = np.random.default_rng(3).standard_normal((4, 3))
    a, b, c, d = (row.copy() for row in rows)
    numbers, array = (of_numbers, [1.5, 2.0, 0.5]), (of_array, rows)
    return {
        "rows": (of_rows, [[1.5], [2.0, 0.5]], *numbers),
        "dict": (of_names, {"x": 1.5, "y": 2.0, "z": 0.5}, *numbers),
        "dataclass": (of_point, Point(1.5, 2.0, 0.5), *numbers),
        "layers": (of_layers, {"first": {"x": a, "y": b}, "second": {"x": c, "y": d}}, *array),
        "tuples": (of_tuples, [Layer(a, b), Layer(c, d)], *array),
    }  # fmt: skip


def measure(name, what, target, repeats=25):
    """The gradient by one form over that by another."""
    import codipy

    f, x, g, y = forms()[name]
    gradient, other = codipy.value_and_grad(f), codipy.value_and_grad(g)
    if gradient(x)[0] != other(y)[0]:
        raise AssertionError(f"{f.__name__} is not {g.__name__}")
    times, least, plain = in_turns([lambda: gradient(x), lambda: other(y), lambda: f(x)], repeats)
    reached, detail = ratio(times, least)
    return Figure(f"gradient by {what}", reached, target,
                  detail=detail.replace("plain", "that") + f", plain run {1e6 * min(plain):.3g} us",
                  question=f"small-arguments-{name}")


QUESTIONS = {f"small-arguments-{name}": partial(measure, name, what, target) for name, what, target in (
    ("rows", "three numbers in a list of lists / in a list", 5.0),
    ("dict", "three numbers in a dict / in a list", 4.0),
    ("dataclass", "three numbers in a dataclass / in a list", 18.0),
    ("layers", "four arrays in nested dicts / as one array", 3.5),
    ("tuples", "four arrays in a list of named tuples / as one array", 7.0),
)}  # fmt: skip
