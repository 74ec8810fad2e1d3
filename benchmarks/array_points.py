# SPDX-License-Identifier: Apache-2.0
"""Where each NumPy program of `array_work` is differentiated: its arguments at any size, and which of them count."""
from collections.abc import Callable
from dataclasses import dataclass, field

import array_work
import numpy as np


@dataclass(frozen=True)
class Point:
    """A program and its arguments."""

    function: Callable
    start: Callable             # start(size, **options) -> arguments; their work grows linearly with size
    size: int                   # of the figure
    small: dict = field(default_factory=dict)   # start's arguments where each element is checked by differences
    argnums: tuple = (0,)       # of the arguments that are differentiated


def generator():
    """The same numbers in each process."""
    return np.random.default_rng(4)


def fields(size, rows=201, steps=32):
    """Two fields of rows x size cells, positive, so that upwind looks to lower indices."""
    numbers = generator()
    return 0.5 + 0.2 * numbers.random((rows, size)), 0.5 + 0.2 * numbers.random((rows, size)), steps


def book(size):
    """Calls near the money."""
    numbers = generator()
    return (80.0 + 40.0 * numbers.random(size), 0.1 + 0.3 * numbers.random(size), 0.2 + 2.0 * numbers.random(size),
            80.0 + 40.0 * numbers.random(size))


def short_arrays(size, length=10):
    """Three short arrays and the number of operations."""
    numbers = generator()
    return numbers.random(length), 1.0 + 0.2 * numbers.random(length), 0.3 * numbers.random(length), size


def labelled(size, features=50):
    """Weights, observations, labels -1 and 1."""
    numbers = generator()
    x = numbers.standard_normal((size, features))
    return 0.1 * numbers.standard_normal(features), x, np.where(x[:, 0] + numbers.standard_normal(size) > 0, 1.0, -1.0)


def layers(size, width=64, classes=10):
    """Weights and biases of two layers, a batch and its labels."""
    numbers = generator()
    return (numbers.standard_normal((width, width)) / width ** 0.5, 0.1 * numbers.standard_normal(width),
            numbers.standard_normal((width, classes)) / width ** 0.5, 0.1 * numbers.standard_normal(classes),
            numbers.standard_normal((size, width)), numbers.integers(0, classes, size))


def clusters(size, dimension=10, components=25):
    """Parameters of a mixture, and the data."""
    numbers = generator()
    return (numbers.standard_normal(components), numbers.standard_normal((components, dimension)),
            0.3 * numbers.standard_normal((components, dimension)),
            0.2 * numbers.standard_normal((components, dimension, dimension)),
            numbers.standard_normal((size, dimension)))


def bar(size, cells=200):
    """Temperatures, conductivities between and beside the cells, and the number of steps."""
    numbers = generator()
    return numbers.random(cells), 0.5 + numbers.random(cells + 1), size


def line(size, steps=200):
    """Values on a line, and the number of steps."""
    return 0.5 + 0.5 * generator().random(size), steps


def sides(size, columns=100):
    """A column of size / columns elements and a row: the array has size elements."""
    numbers = generator()
    return numbers.random(size // columns), numbers.random(columns)


def vector(size):
    """One vector."""
    return (generator().random(size),)


SMALL_FIELDS = {"size": 6, "rows": 5, "steps": 3}
POINTS = {
    "burgers": Point(array_work.burgers, fields, 201, SMALL_FIELDS, (0, 1)),
    "burgers-fill": Point(array_work.burgers_fill, fields, 201, SMALL_FIELDS, (0, 1)),
    "black-scholes-arrays": Point(array_work.black_scholes, book, 1_000_000, {"size": 20}, (0, 1, 2)),
    "small-arrays": Point(array_work.chain, short_arrays, 10_000, {"size": 40}, (0, 1, 2)),
    "small-arrays-expressions": Point(array_work.chain_expressions, short_arrays, 10_000, {"size": 40}, (0, 1, 2)),
    "logistic": Point(array_work.logistic, labelled, 10_000, {"size": 30, "features": 4}),
    "perceptron": Point(array_work.perceptron, layers, 256, {"size": 6, "width": 4, "classes": 3}, (0, 1, 2, 3)),
    "mixture": Point(array_work.mixture, clusters, 1000, {"size": 12, "dimension": 3, "components": 4}, (0, 1, 2, 3)),
    "heat": Point(array_work.heat, bar, 20, {"size": 4, "cells": 8}, (0, 1)),
    "stencil": Point(array_work.stencil, line, 10_000, {"size": 20, "steps": 6}),
    "stencil-nonlinear": Point(array_work.stencil_nonlinear, line, 10_000, {"size": 20, "steps": 6}),
    "fill": Point(array_work.fill, sides, 10_000, {"size": 12, "columns": 3}, (0, 1)),
    "squares": Point(array_work.squares, vector, 10, {"size": 10}),
}
