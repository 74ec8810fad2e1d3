# SPDX-License-Identifier: Apache-2.0
"""The `codipy` command."""
from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from contextlib import contextmanager
from pathlib import Path

from codipy.errors import ActiveError, TapeError
from codipy.tape.base import FORWARD_STRATEGY, GRANULARITIES, STRATEGIES
from codipy.tools import compare
from codipy.tools.compare import StatefulError
from codipy.tools.memory import measure
from codipy.tools.settings import settings
from codipy.tools.target import TargetError, load, user_traceback
from codipy.version import __version__

__all__ = ["main"]

AGREE, DISAGREE, FAILED = 0, 1, 2      # exit status


def main(argv=None):
    """Run the command.

    Parameters
    ----------
    argv : list of str, optional
        Default is the command line.

    Returns
    -------
    int
        Exit status: 0, 1 if a strategy disagrees, 2 if the comparison could not be made.
    """
    options = _parser().parse_args(argv)
    try:
        return _compare(options)
    except (ActiveError, StatefulError, TapeError, TargetError) as error:      # these name the line
        print(f"codipy compare: {error}", file=sys.stderr)
    except Exception as error:      # the user's file may raise anything
        print(user_traceback(error, options.target), end="", file=sys.stderr)
    return FAILED


def _parser():
    parser = argparse.ArgumentParser(prog="codipy", description="Automatic differentiation of plain Python by taping.")
    parser.add_argument("--version", action="version", version=f"codipy {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "compare", help="run one function under every taping strategy",
        description="Run one function under every taping strategy: time, memory, agreement of the gradients. "
        "Exit status 1 if a strategy disagrees.")
    command.add_argument("target", metavar="FILE.py:FUNCTION", help="the point is FUNCTION.x0 or x0 of the file")
    command.add_argument("--at", metavar="NAME", help="take the point from this variable of the file")
    command.add_argument("--strategy", action="append", choices=(*STRATEGIES, FORWARD_STRATEGY),
                         help="only this one; may be repeated")
    command.add_argument("--granularity", action="append", choices=GRANULARITIES, help="only this one")
    command.add_argument("--chunk-size", type=_positive, metavar="N", help="items per chunk of the data streams")
    command.add_argument("--repeat", type=_positive, default=7, metavar="N", help="interleaved measurements (7)")
    command.add_argument("--json", type=Path, metavar="F", help="write everything to this file")
    command.add_argument("--csv", type=Path, metavar="F", help="write the rows to this file")
    command.add_argument("--memory", action="store_true",
                         help="sample the resident memory of each strategy in a process of its own")
    return parser


def _positive(text):
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return number


def _compare(options):
    function, arguments = load(options.target, options.at)
    try:
        pairs = settings(options.strategy, options.granularity, True)
    except ValueError as error:
        raise TargetError(str(error)) from None
    with _progress("time") as progress:
        result = compare(function, *arguments, strategies=options.strategy, granularities=options.granularity,
                         chunk_size=options.chunk_size, repeat=options.repeat, progress=progress)
    if options.memory:
        with _progress("memory") as progress:
            result.memory = measure(options.target, options.at, pairs, options.chunk_size, progress)
    for path, text in ((options.json, json.dumps(result.to_dict(), indent=1)), (options.csv, result.to_csv())):
        if path is not None:
            try:
                path.write_text(text, encoding="utf-8")
            except OSError as error:
                raise TargetError(f"cannot write {path}: {error.strerror}") from None
    print(result)
    return AGREE if result.agree else DISAGREE


@contextmanager
def _progress(title):
    """A function that shows how far it is, on a terminal where rich is installed; else None."""
    if not sys.stderr.isatty() or importlib.util.find_spec("rich") is None:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    # Drawn between measurements only, not by a thread during them.
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(title, total=None)

        def progress(done, total):
            bar.update(task, completed=done, total=total)
            bar.refresh()

        yield progress
