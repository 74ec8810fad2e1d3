# SPDX-License-Identifier: Apache-2.0
"""The command ``codipy predict``."""
from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from codipy.laboratory.command import AGREE, DISAGREE, numbers_of, positive
from codipy.laboratory.prediction import bytes_of, predict
from codipy.laboratory.source import as_steps
from codipy.tools.callee import name_of
from codipy.tools.comparison.settings import settings
from codipy.tools.console.progress import shown_progress
from codipy.tools.console.target import TargetError, demand_writable, find, hinting

__all__ = ["add_predict"]


def add_predict(commands):
    """Add the command to a parser's; what it says of the function is the caller's."""
    command = commands.add_parser(
        "predict", help="count the bytes of a recording under every taping strategy, and store nothing",
        description="Count the bytes that a recording would take under every taping strategy, in runs that store "
        "nothing. Exit status 1 if none fits the budget.")
    command.set_defaults(run=_run)
    command.add_argument("--size", type=_size, metavar="N", help="the point is x0(N) of the file: 1e6")
    command.add_argument("--steps", type=_size, metavar="K",
                         help="handed to x0(N, K) or to the function's parameter steps")
    command.add_argument("--at", metavar="NAME", help="take the point from this variable of the file")
    command.add_argument("--chunk-size", type=positive, metavar="N", action="append",
                         help="items per chunk of the data streams; may be repeated")
    command.add_argument("--width", type=positive, default=1, metavar="K", help="directions of the sweep (1)")
    command.add_argument("--budget", type=_bytes, metavar="BYTES", help="say what fits: 2GiB, 500MB or a number")
    command.add_argument("--json", type=Path, metavar="F", help="write everything to this file")
    return command


def _run(options):
    demand_writable(options.json)
    function, name, arguments, place = _at_the_point(options)
    try:
        settings(options.strategy, options.granularity, True)
    except ValueError as error:
        raise TargetError(str(error)) from None
    with shown_progress("count") as progress, hinting(function, arguments):
        found = predict(function, *arguments, strategies=options.strategy, granularities=options.granularity,
                        chunk_sizes=options.chunk_size, width=options.width, budget=options.budget, progress=progress)
    found = replace(found, function=name, point=place)
    return found.text(options.format), AGREE if found.fitting else DISAGREE, {options.json: found.to_json()}


def _at_the_point(options):
    """The function, its name, its arguments, and where these come from."""
    if (options.size is not None) + (options.at is not None) + (options.x0 is not None) > 1:
        raise TargetError("--size, --at and --x0 exclude one another")
    found = find(options.target)
    function = as_steps(found.function, options)
    if options.size is not None:
        place = f"{found.place}({options.size}) of {found.path.name}"
        arguments = found.made(options.size, options.steps)
    else:
        _, arguments, place = found.arguments(options.at, options.x0)
    steps = "" if options.steps is None else f", {options.steps} steps"
    return function, name_of(found.function), arguments, place + steps


def _size(text):
    """One whole number, 1e3 for a thousand."""
    number, *more = numbers_of(text)
    if more:
        raise argparse.ArgumentTypeError(f"{text!r} is more than one number")
    return number


def _bytes(text):
    try:
        return bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
