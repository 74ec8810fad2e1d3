# SPDX-License-Identifier: Apache-2.0
"""The command ``codipy study``."""
from __future__ import annotations

import argparse
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codipy.laboratory.changes import changes
from codipy.laboratory.passing import passes
from codipy.laboratory.prediction import bytes_of, predict
from codipy.laboratory.result import Study
from codipy.laboratory.run import sourced, study
from codipy.laboratory.waiting import ENDS
from codipy.tape.strategies.settings import settings
from codipy.tools.console.json_text import json_text
from codipy.tools.console.options import demand_writable, named_path, numbers_of
from codipy.tools.console.progress import shown_progress
from codipy.tools.console.raised import is_of_file
from codipy.tools.console.target import TargetError

__all__ = ["AGREE", "DISAGREE", "FAILED", "INTERRUPTED", "add_study", "bytes_asked", "chosen", "ended_as_by_ctrl_c"]

AGREE, DISAGREE, FAILED, INTERRUPTED = 0, 1, 2, 130      # exit status; the last is the shell's for Ctrl-C


def add_study(commands):
    """Add the command to a parser's; what it says of the function is the caller's."""
    command = commands.add_parser(
        "study", help="measure every taping strategy over sizes, each in a process of its own",
        description="Measure every taping strategy on one function, over its sizes, chunk sizes and widths, each in a "
        "process of its own: time, memory, growth. Exit status 1 if a strategy disagrees or fails, "
        "with --compare if anything changed, or is wrong that was not, and with --budget if nothing fits at a point.")
    command.set_defaults(run=_run)
    command.add_argument("--sizes", type=numbers_of, metavar="N,N", help="points are x0(N) of the file: 1e3,1e4,1e5")
    command.add_argument("--steps", type=numbers_of, metavar="K,K",
                         help="beside each size: handed to x0(N, K) or to the function's parameter steps")
    command.add_argument("--at", action="append", metavar="NAME",
                         help="take the point from this variable of the file; may be repeated")
    command.add_argument("--x0", metavar="POINT", help="the point itself, as Python writes it: '[1.0, 2.0]'")
    command.add_argument("--chunk-size", type=numbers_of, metavar="N,N", help="items per chunk of the data streams")
    command.add_argument("--width", type=numbers_of, metavar="K,K", help="directions of a sweep: 1,4,8")
    command.add_argument("--save", type=named_path, metavar="DIR", help="the folder of the study (FUNCTION-study)")
    command.add_argument("--resume", action="store_true", help="go on with what the folder holds")
    command.add_argument("--compare", nargs=2, type=named_path, metavar=("A", "B"),
                         help="say what changed between two studies, folders or their study.json; runs nothing")
    command.add_argument("--json", type=named_path, metavar="F", help="write what changed to this file too")
    command.add_argument("--details", action="store_true", help="print all tables")
    command.add_argument("--predict", action="store_true",
                         help="count the bytes at each point in runs that store nothing; nothing is timed or kept")
    command.add_argument("--budget", type=bytes_asked, metavar="BYTES",
                         help="with --predict, say what fits: 2GiB, 500MB or a number")
    command.add_argument("--passes", action="store_true",
                         help="say what each pass of tape.optimize() saves at each point; nothing is kept")
    return command


def _run(options):
    if options.compare is not None:
        return _compare(options)
    if not options.target:
        raise TargetError("which function? codipy study FILE.py:FUNCTION")
    if options.json is not None:
        raise TargetError("--json is for --compare: a study writes study.json into its folder, --save DIR")
    if options.predict and options.passes:
        raise TargetError("--predict keeps no recording to run --passes over: ask for one of the two")
    if options.budget is not None and not options.predict:
        raise TargetError("--budget is for --predict, which says what fits without recording it")
    if options.predict:
        return _predict(options)
    if options.passes:
        return _passes(options)
    folder = options.save or Path(options.target.rpartition(":")[2] + "-study")
    asked = {"sizes": options.sizes, "steps": options.steps, "at": options.at, "x0": options.x0,
             "strategies": options.strategy, "granularities": options.granularity, "chunk_sizes": options.chunk_size,
             "widths": options.width}
    with (shown_progress("study") as shown, ended_as_by_ctrl_c(shown) as progress,
          _wrong_words(options.target)):  # fmt: skip
        found = study(options.target, **asked, repeat=options.repeat, save=folder, resume=options.resume,
                      progress=progress)
    if not found.rows:
        return "The study was stopped before anything was measured: nothing is kept.", INTERRUPTED, {}
    said = [found.table(options.format, details=options.details), "", f"The study is in {folder}."]
    if not found.header["finished"]:
        said[-1] += " The same command with --resume goes on with it."
        return "\n".join(said), INTERRUPTED, {}
    return "\n".join(said), AGREE if found.agree else DISAGREE, {}


def _predict(options):
    """What `codipy predict` says of each point, and of each width."""
    said, fitting = [], True
    for source, function, arguments, label in _points(options, "--predict", True):
        for width in options.width or [1]:
            with shown_progress("count") as progress:
                found = predict(function, *arguments, strategies=options.strategy, granularities=options.granularity,
                                chunk_sizes=options.chunk_size, width=width, budget=options.budget, progress=progress)
            said.append(replace(found, function=source.name, point=label).text(options.format))
            fitting = fitting and bool(found.fitting)
    return "\n\n".join(said), AGREE if fitting else DISAGREE, {}


def _passes(options):
    """What each pass saves at each point."""
    if options.width or options.chunk_size:
        raise TargetError("--passes sweeps in one direction, over chunks that grow: leave --width and --chunk-size out")
    said = []
    for source, function, arguments, label in _points(options, "--passes", False):
        with shown_progress("sweep") as progress:
            found = passes(function, *arguments, strategies=options.strategy, granularities=options.granularity,
                           repeat=options.repeat, progress=progress)
        said.append(replace(found, function=source.name, point=label).text(options.format))
    return "\n\n".join(said), AGREE, {}


def _points(options, asked, forward):
    """The source, the function, its arguments and what it is called at each point, for what keeps no study."""
    if options.save is not None or options.resume or options.details:
        raise TargetError(f"{asked} keeps no study: leave --save, --resume and --details out")
    chosen(options, forward)
    with _wrong_words(options.target):
        source, points = sourced(options.target, (), options.sizes, options.steps, options.at, options.x0)
    for point in points:
        yield source, *source.load(point), point.label


@contextmanager
def _wrong_words(target):
    """What is wrong with the words of the command is a TargetError; what the user's file raises stays as it is."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if is_of_file(error, target):
            raise
        raise TargetError(str(error)) from None


@contextmanager
def ended_as_by_ctrl_c(progress):
    """A terminal that is closed and `kill` end a study as Ctrl-C does, and its process with it, which would go on.

    Yields what a study calls as it goes on: `progress`, which raises KeyboardInterrupt from then on. Python drops the
    exception of a signal that comes while something is finalised.
    """
    is_ended = False

    def end(number, frame):
        nonlocal is_ended
        is_ended = True
        raise KeyboardInterrupt

    def going_on(*done):
        if is_ended:
            raise KeyboardInterrupt
        if progress is not None:
            progress(*done)

    before = {}
    if threading.current_thread() is threading.main_thread():      # no other may
        before = {number: signal.signal(number, end) for number in ENDS  # `nohup` ignores the first
                  if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)}  # fmt: skip
    try:
        yield going_on
    finally:
        for end, handler in before.items():
            signal.signal(end, handler)


def _compare(options):
    others = ["the function"] * bool(options.target) + [
        f"--{name}" for name in ("sizes", "steps", "at", "x0", "chunk-size", "width", "save", "resume", "details",
                                 "predict", "budget", "passes", "strategy", "granularity")
        if getattr(options, name.replace("-", "_")) not in (None, False)]
    if others:
        raise TargetError(f"--compare runs nothing: leave {' and '.join(others)} out")
    demand_writable(json=options.json)
    found = changes(*map(Study.load, options.compare))
    status = DISAGREE if found.changed or found.is_worse else AGREE
    return found.table(options.format), status, {options.json: json_text(found.to_dict())}


def chosen(options, forward=True):
    """The `settings` of the strategies and granularities that were asked for."""
    try:
        return settings(options.strategy, options.granularity, forward)
    except ValueError as error:
        raise TargetError(str(error)) from None


def bytes_asked(text):
    """A number of bytes, as `bytes_of` reads it."""
    try:
        return bytes_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
