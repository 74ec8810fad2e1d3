# SPDX-License-Identifier: Apache-2.0
"""The command ``codipy predict``."""
from __future__ import annotations

from dataclasses import replace

from codipy.laboratory.command import AGREE, DISAGREE, bytes_asked, chosen
from codipy.laboratory.pointing import add_point, pointed
from codipy.laboratory.prediction import predict
from codipy.tools.callee import title_of
from codipy.tools.console.options import demand_writable, named_path, positive
from codipy.tools.console.progress import shown_progress
from codipy.tools.console.raised import hinting

__all__ = ["add_predict"]


def add_predict(commands):
    """Add the command to a parser's; what it says of the function is the caller's."""
    command = commands.add_parser(
        "predict", help="count the bytes of a recording under every taping strategy, and store nothing",
        description="Count the bytes that a recording would take under every taping strategy, in runs that store "
        "nothing. Exit status 1 if none fits the budget.")
    command.set_defaults(run=_run)
    add_point(command)
    command.add_argument("--chunk-size", type=positive, metavar="N", action="append",
                         help="items per chunk of the data streams; may be repeated")
    command.add_argument("--width", type=positive, default=1, metavar="K", help="directions of the sweep (1)")
    command.add_argument("--budget", type=bytes_asked, metavar="BYTES", help="say what fits: 2GiB, 500MB or a number")
    command.add_argument("--json", type=named_path, metavar="F", help="write everything to this file")
    return command


def _run(options):
    demand_writable(json=options.json)
    function, arguments, place, _ = pointed(options)
    chosen(options)
    with shown_progress("count") as progress, hinting(function, arguments):
        found = predict(function, *arguments, strategies=options.strategy, granularities=options.granularity,
                        chunk_sizes=options.chunk_size, width=options.width, budget=options.budget, progress=progress)
    found = replace(found, function=title_of(function), point=place)
    return found.text(options.format), AGREE if found.fitting else DISAGREE, {options.json: found.to_json()}
