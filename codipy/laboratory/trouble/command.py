# SPDX-License-Identifier: Apache-2.0
"""The command ``codipy debug``."""
from __future__ import annotations

from codipy.laboratory.command import AGREE, DISAGREE
from codipy.laboratory.pointing import add_point, pointed
from codipy.laboratory.trouble.debugging import debug
from codipy.tools.callee import title_of
from codipy.tools.console.options import demand_writable, named_path
from codipy.tools.console.raised import hinting

__all__ = ["add_debug"]


def add_debug(commands):
    """Add the command to a parser's; what it says of the function is the caller's."""
    command = commands.add_parser(
        "debug", help="find where numbers stop being finite and where derivatives are lost",
        description="Run one function, look at its recording and its reverse sweep: numbers that are not finite, "
        "inputs and outputs that nothing connects, derivatives that are lost, adjoints that cancel. Exit status 1 if "
        "anything but hints was found.")
    command.set_defaults(run=_run)
    add_point(command)
    command.add_argument("--json", type=named_path, metavar="F", help="write everything to this file")
    return command


def _run(options):
    demand_writable(json=options.json)
    function, arguments, place, _ = pointed(options)
    with hinting(function, arguments):
        found = debug(function, *arguments)
    text = f"{title_of(function)} at {place}\n{found.text()}"
    return text, AGREE if found.ok else DISAGREE, {options.json: found.to_json()}
