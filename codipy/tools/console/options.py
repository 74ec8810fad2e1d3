# SPDX-License-Identifier: Apache-2.0
"""The words of a command line: how they are read, and what is said of those that nothing can be done with."""
from __future__ import annotations

import argparse
import os
from pathlib import Path

from codipy.tools.console.target import TargetError

__all__ = ["Parser", "demand_writable", "named_path", "numbers_of", "positive"]


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, which names the command that was given the words."""

    def parse_known_args(self, args=None, namespace=None):
        """Of a command the words that it does not know are its own error, and not that of what runs it."""
        found, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return found, others

    def error(self, message):
        """End with a line."""
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help says what there is)\n")


def demand_writable(**paths):
    """Raise unless files can be written, each its own; before what takes long, so that nothing is lost after it.

    Parameters
    ----------
    **paths : Path or None
        By the option that names it.
    """
    known = {}
    for name, path in paths.items():
        if path is None:
            continue
        other = known.setdefault(path.resolve(), name)
        if other != name:
            raise TargetError(f"--{other} and --{name} are one file, {path}: name two")
        _demand_writable(path)


def _demand_writable(path):
    was = path.exists()
    if was and not path.is_file() and not path.is_dir() and os.access(path, os.W_OK):
        return      # who reads from a pipe would take its end for the end of what comes
    try:
        with open(path, "ab"):
            pass
    except OSError as error:
        raise TargetError(f"cannot write {path}: {error.strerror}") from None
    if not was:
        path.unlink()


def named_path(text):
    """The path of a file or folder; an empty text, which would be the working directory, is none."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def numbers_of(text):
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


def positive(text):
    """A whole number of at least 1, in digits."""
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return number
