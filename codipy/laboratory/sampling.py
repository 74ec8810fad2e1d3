# SPDX-License-Identifier: Apache-2.0
"""The command ``codipy timeline``."""
from __future__ import annotations

import argparse

from codipy.laboratory.command import AGREE, chosen
from codipy.laboratory.pointing import add_point, pointed
from codipy.laboratory.timeline import timeline
from codipy.tape.strategies.table import FORWARD_STRATEGY, GRANULARITIES, STRATEGIES
from codipy.tools.callee import name_of
from codipy.tools.console.options import demand_writable, named_path, positive
from codipy.tools.console.raised import hinting
from codipy.tools.console.table import FORMATS
from codipy.tools.console.target import TargetError

__all__ = ["add_timeline"]


def add_timeline(commands):
    """Add the command to a parser's; what it says of the function is the caller's."""
    command = commands.add_parser(
        "timeline", help="say how a tape grows line by line",
        description="Record a function three times, look at the tape between the lines of the program, and say how "
        "identifiers, statements and bytes grow, how many operands are passive, and what activity analysis saved.")
    command.set_defaults(run=_run)
    add_point(command)
    command.add_argument("--argnums", type=_argument, metavar="N", action="append",
                         help="differentiate by this argument, 0 is the first; may be repeated (all)")
    command.add_argument("--strategy", choices=(*STRATEGIES, FORWARD_STRATEGY), default="auto",
                         help="of the tape (auto)")
    command.add_argument("--granularity", choices=GRANULARITIES, help="of the tape")
    command.add_argument("--chunk-size", type=positive, metavar="N", help="items per chunk of the data streams")
    command.add_argument("--samples", type=positive, default=200, metavar="N",
                         help="moments that are looked at, and at most twice as many (200)")
    command.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="of what is printed (text)")
    command.add_argument("--json", type=named_path, metavar="F", help="write every sample to this file")
    command.add_argument("--csv", type=named_path, metavar="F", help="write one line for each sample to this file")
    return command


def _run(options):
    demand_writable(json=options.json, csv=options.csv)
    chosen(options)
    function, arguments, place, _ = pointed(options)
    if options.argnums is not None and max(options.argnums) >= len(arguments):
        raise TargetError(f"--argnums {max(options.argnums)}: {name_of(function)} has {len(arguments)} "
                          f"argument{'s' * (len(arguments) > 1)} at {place}, and 0 is the first")
    with hinting(function, arguments):
        found = timeline(function, *arguments, argnums=None if options.argnums is None else tuple(options.argnums),
                         strategy=options.strategy, granularity=options.granularity, chunk_size=options.chunk_size,
                         samples=options.samples)
    files = {options.json: found.to_json(), options.csv: found.to_csv()}
    return f"{found.table(options.format)}\n\nThe point is {place}.", AGREE, files


def _argument(text):
    """The number of an argument."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not the number of an argument: 0 is the first")
    return int(text)
