# SPDX-License-Identifier: Apache-2.0
"""The command ``codipy profile``."""
from __future__ import annotations

from codipy.laboratory.command import AGREE, chosen
from codipy.laboratory.pointing import add_point, pointed
from codipy.laboratory.profiling.profiles import profile
from codipy.laboratory.profiling.stacks import WEIGHTS
from codipy.tape.strategies.table import GRANULARITIES, STRATEGIES
from codipy.tools.console.json_text import json_text
from codipy.tools.console.options import demand_writable, named_path, positive
from codipy.tools.console.raised import hinting
from codipy.tools.console.table import FORMATS

__all__ = ["add_profile"]


def add_profile(commands):
    """Add the command to a parser's."""
    command = commands.add_parser(
        "profile", help="say which lines put what on the tape, and what they cost",
        description="Record a function once, sweep back once, and say which lines put how many statements and bytes on "
        "the tape, and what they cost.")
    command.set_defaults(run=_run)
    command.add_argument("target", metavar="FILE.py:FUNCTION",
                         help="or FILE.py:CLASS.METHOD; the point is FUNCTION.x0 or x0 of the file")
    add_point(command)
    command.add_argument("--strategy", choices=STRATEGIES, default="auto", help="of the tape (auto)")
    command.add_argument("--granularity", choices=GRANULARITIES, help="of the tape")
    command.add_argument("--chunk-size", type=positive, metavar="N", help="items per chunk of the data streams")
    command.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="of what is printed (text)")
    command.add_argument("--json", type=named_path, metavar="F", help="write everything to this file")
    command.add_argument("--html", type=named_path, metavar="F", help="write a page with the source to this file")
    command.add_argument("--speedscope", type=named_path, metavar="F", help="write a file for https://www.speedscope.app")
    command.add_argument("--collapsed", type=named_path, metavar="F",
                         help="write call paths for programs that draw flame graphs")
    command.add_argument("--weight", choices=WEIGHTS, default="bytes", help="of the call paths (bytes)")
    return command


def _run(options):
    demand_writable(json=options.json, html=options.html, speedscope=options.speedscope, collapsed=options.collapsed)
    chosen(options)
    function, arguments, place, _ = pointed(options)
    with hinting(function, arguments):
        found = profile(function, *arguments, strategy=options.strategy, granularity=options.granularity,
                        chunk_size=options.chunk_size)
    files = {options.json: found.to_json(), options.html: found.to_html(),
             options.speedscope: json_text(found.to_speedscope(), None),
             options.collapsed: found.collapsed(options.weight)}
    return f"{found.text(options.format)}\n\nThe point is {place}.", AGREE, files
