# SPDX-License-Identifier: Apache-2.0
"""The words of a command line: how they are read, and what is said of those that nothing can be done with."""
from __future__ import annotations

import argparse

from codipy.tools.console.target import TargetError

__all__ = ["demand_writable", "numbers_of", "positive"]


def demand_writable(path):
    """Raise unless a file can be written there; before what takes long, so that nothing is lost after it."""
    if path is None:
        return
    was = path.exists()
    try:
        with open(path, "ab"):
            pass
    except OSError as error:
        raise TargetError(f"cannot write {path}: {error.strerror}") from None
    if not was:
        path.unlink()


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
