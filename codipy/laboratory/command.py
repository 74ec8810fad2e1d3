# SPDX-License-Identifier: Apache-2.0
"""The command ``codipy study``."""
from __future__ import annotations

import argparse
from pathlib import Path

from codipy.laboratory.result import StudyError
from codipy.laboratory.run import study
from codipy.tools.progress import shown_progress
from codipy.tools.target import TargetError

__all__ = ["add_study"]


def add_study(commands):
    """Add the command to a parser's; what it says of the function is the caller's."""
    command = commands.add_parser(
        "study", help="measure every taping strategy over sizes, each in a process of its own",
        description="Measure every taping strategy on one function, over its sizes, chunk sizes and widths, each in a "
        "process of its own: time, memory, growth. Exit status 1 if a strategy disagrees or fails.")
    command.set_defaults(run=_run)
    command.add_argument("--sizes", type=_numbers, metavar="N,N", help="points are x0(N) of the file: 1e3,1e4,1e5")
    command.add_argument("--steps", type=_numbers, metavar="K,K",
                         help="beside each size: handed to x0(N, K) or to the function's parameter steps")
    command.add_argument("--at", action="append", metavar="NAME",
                         help="take the point from this variable of the file; may be repeated")
    command.add_argument("--chunk-size", type=_numbers, metavar="N,N", help="items per chunk of the data streams")
    command.add_argument("--width", type=_numbers, metavar="K,K", help="directions of a sweep: 1,4,8")
    command.add_argument("--save", type=Path, metavar="DIR", help="the folder of the study (FUNCTION-study)")
    command.add_argument("--resume", action="store_true", help="go on with what the folder holds")
    command.add_argument("--details", action="store_true", help="print all tables")
    return command


def _run(options):
    if options.target is None:
        raise TargetError("which function? codipy study FILE.py:FUNCTION")
    folder = options.save or Path(options.target.rpartition(":")[2] + "-study")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"cannot write {folder}: {error.strerror}") from None
    if (folder / "study.json").exists() and not options.resume:
        raise StudyError(f"{folder} holds a study: --resume goes on with it, --save DIR takes another folder")
    chosen = {"sizes": options.sizes, "steps": options.steps, "at": options.at, "x0": options.x0,
              "strategies": options.strategy, "granularities": options.granularity, "chunk_sizes": options.chunk_size,
              "widths": options.width}
    with shown_progress("study") as progress:
        try:
            found = study(options.target, **chosen, repeat=options.repeat, save=folder, resume=options.resume,
                          progress=progress)
        except TypeError as error:
            raise TargetError(str(error)) from None
    return f"{found.table(options.format, details=options.details)}\n\nThe study is in {folder}.", found.agree


def _numbers(text):
    """Whole numbers with commas between them, 1e3 for a thousand."""
    numbers = []
    for part in text.split(","):
        try:
            number = float(part)
        except ValueError:
            number = 0.0
        if not 1.0 <= number < 2**53 or number != int(number):
            raise argparse.ArgumentTypeError(f"{part!r} is not a positive whole number")
        numbers.append(int(number))
    return numbers
