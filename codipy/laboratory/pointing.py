# SPDX-License-Identifier: Apache-2.0
"""What commands that run a function at one point say about the point: a size, a name, a literal, or nothing."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from codipy.laboratory.plan import Point
from codipy.laboratory.source import as_steps
from codipy.tools.console.options import numbers_of
from codipy.tools.console.target import TargetError, find

__all__ = ["Pointed", "add_point", "pointed"]


class Pointed(NamedTuple):
    """A function at a point.

    Attributes
    ----------
    function : callable
        With its steps.
    arguments : tuple
    place : str
        Where the point comes from.
    point : Point
    """

    function: Callable[..., Any]
    arguments: tuple
    place: str
    point: Point


def add_point(command):
    """Add the options of one point to a command."""
    command.add_argument("--size", type=_number, metavar="N", help="the point is x0(N) of the file: 1e6")
    command.add_argument("--steps", type=_number, metavar="K",
                         help="handed to x0(N, K) or to the function's parameter steps")
    command.add_argument("--at", metavar="NAME", help="take the point from this variable of the file")
    command.add_argument("--x0", metavar="POINT", help="the point itself, as Python writes it: '[1.0, 2.0]'")


def pointed(options):
    """The function of a command at its point.

    Raises
    ------
    TargetError
        If there is none, several are named, or nothing takes the steps.
    """
    if (options.size is not None) + (options.at is not None) + (options.x0 is not None) > 1:
        raise TargetError("--size, --at and --x0 exclude one another")
    found = find(options.target)
    function = as_steps(found.function, options)
    if options.size is not None:
        place = f"{found.place}({options.size}) of {found.path.name}"
        arguments = found.made(options.size, options.steps)
    else:
        _, arguments, place = found.arguments(options.at, options.x0)
    label = options.at or options.x0 or ("x0" if options.size is None else f"n={options.size}")
    steps = "" if options.steps is None else f", {options.steps} steps"
    return Pointed(function, arguments, place + steps,
                   Point(label, options.size, options.steps, options.at, options.x0))


def _number(text):
    """One whole number, 1e3 for a thousand."""
    number, *more = numbers_of(text)
    if more:
        raise argparse.ArgumentTypeError(f"{text!r} is more than one number")
    return number
