# SPDX-License-Identifier: Apache-2.0
"""The `codipy` command."""
from __future__ import annotations

import contextlib
import os
import re
import sys

from codipy.errors import ActiveError, TapeError
from codipy.laboratory import StudyError
from codipy.laboratory.command import AGREE, DISAGREE, FAILED, INTERRUPTED, add_study, chosen
from codipy.laboratory.memory import measure
from codipy.laboratory.pointing import add_point, pointed
from codipy.laboratory.predicting import add_predict
from codipy.laboratory.profiling.command import add_profile
from codipy.laboratory.sampling import add_timeline
from codipy.laboratory.trouble.command import add_debug
from codipy.tape.strategies.table import FORWARD_STRATEGY, GRANULARITIES, STRATEGIES
from codipy.tools import compare
from codipy.tools.comparison.compare import StatefulError
from codipy.tools.console.json_text import json_text
from codipy.tools.console.options import Parser, demand_writable, named_path, positive
from codipy.tools.console.progress import shown_progress
from codipy.tools.console.raised import hinting, user_traceback
from codipy.tools.console.table import FORMATS
from codipy.tools.console.target import TargetError, absolute
from codipy.version import __version__

__all__ = ["main"]


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list of str, optional
        Default is the command line.

    Returns
    -------
    int
        Exit status: 0, 1 if a strategy disagrees, none fits a budget or trouble was found, 2 if nothing could be
        measured, 130 after Ctrl-C.
    """
    options = _parser().parse_args(argv)
    options.target = absolute(options.target or "")
    try:
        # What the user's program prints is no part of a table.
        with contextlib.redirect_stdout(sys.stderr), _coming_back():
            text, status, files = options.run(options)
    except (ActiveError, StatefulError, StudyError, TapeError, TargetError) as error:      # these name the line
        print(_shown(f"codipy {options.command}: {error}"), file=sys.stderr)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as error:      # its status is not that of this command, which has nothing to show
        print(f"codipy {options.command}: the program called exit({error.code!r}) while it ran: return from the "
              "function instead", file=sys.stderr)
    except Exception as error:      # the user's file may raise anything
        print(_shown(user_traceback(error, options.target)), end="", file=sys.stderr)
    else:
        printed = _print(options.command, text)      # before what a full disk may refuse
        return status if _write(options.command, files) and printed else FAILED
    return FAILED


@contextlib.contextmanager
def _coming_back():
    """Files are written where the command was given, wherever the user's program changes the working directory to."""
    home = os.getcwd()
    try:
        yield
    finally:
        os.chdir(home)


def _shown(text):
    """Text in which characters that would steer a terminal are written out: exceptions say what a program has read."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda found: repr(found[0])[1:-1], text)


def _encodable(text):
    """Text that the standard output can write: a locale or a pipe may be without signs that names and tables have."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.replace("±", "+-").encode(encoding, "backslashreplace").decode(encoding)
    return text


def _print(command, text):
    """Print, and say whether that could be done; a reader that has seen enough, as `head` has, is no error."""
    try:
        print(_encodable(_shown(text)), flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())      # the interpreter flushes once more
        if not isinstance(error, BrokenPipeError):
            print(f"codipy {command}: cannot write to the standard output: {error.strerror}", file=sys.stderr)
            return False
    return True


def _write(command, files):
    """Whether all files could be written; those that nobody asked for are None."""
    written = True
    for path, text in files.items():
        try:
            if path is not None:
                path.write_text(text, encoding="utf-8", errors="backslashreplace")      # of names that are no Unicode
        except OSError as error:
            print(f"codipy {command}: cannot write {path}: {error.strerror}", file=sys.stderr)
            written = False
    return written


def _parser():
    parser = Parser(prog="codipy", description="Automatic differentiation of plain Python by taping.")
    parser.add_argument("--version", action="version", version=f"codipy {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    command = commands.add_parser(
        "compare", help="run one function under every taping strategy",
        description="Run one function under every taping strategy: time, memory, agreement of the gradients. "
        "Exit status 1 if a strategy disagrees.")
    command.set_defaults(run=_compare)
    _add_function(command)
    add_point(command)
    command.add_argument("--chunk-size", type=positive, metavar="N", help="items per chunk of the data streams")
    command.add_argument("--json", type=named_path, metavar="F", help="write everything to this file")
    command.add_argument("--csv", type=named_path, metavar="F", help="write the rows to this file")
    command.add_argument("--memory", action="store_true",
                         help="measure the resident memory of each strategy in a process of its own")
    command = add_study(commands)
    _add_function(command, needed=False)
    _add_function(add_predict(commands), measured=False)
    _add_function(add_debug(commands), measured=False, ways=False)
    _add_function(add_timeline(commands), measured=False, ways=False)
    add_profile(commands)
    return parser


def _add_function(command, needed=True, measured=True, ways=True):
    """What all commands say about a function and how it is measured, those with `ways` under which strategies."""
    command.add_argument("target", metavar="FILE.py:FUNCTION", nargs=None if needed else "?",
                         help="or FILE.py:CLASS.METHOD; the point is FUNCTION.x0 or x0 of the file")
    if not ways:
        return
    command.add_argument("--strategy", action="append", choices=(*STRATEGIES, FORWARD_STRATEGY),
                         help="only this one; may be repeated")
    command.add_argument("--granularity", action="append", choices=GRANULARITIES, help="only this one")
    if measured:
        command.add_argument("--repeat", type=positive, default=7, metavar="N", help="interleaved measurements (7)")
    command.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="of what is printed (text)")


def _compare(options):
    demand_writable(json=options.json, csv=options.csv)
    function, arguments, place, point = pointed(options)
    pairs = chosen(options)
    with shown_progress("time") as progress, hinting(function, arguments):
        result = compare(function, *arguments, strategies=options.strategy, granularities=options.granularity,
                         chunk_size=options.chunk_size, repeat=options.repeat, progress=progress)
    result.point = place
    if options.memory:
        with shown_progress("memory") as progress:
            result.memory = measure(options.target, point, pairs, options.chunk_size, progress)
    files = {options.json: json_text(result.to_dict()), options.csv: result.to_csv()}
    return result.table(options.format), AGREE if result.agree else DISAGREE, files
