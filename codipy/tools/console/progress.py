# SPDX-License-Identifier: Apache-2.0
"""How far a long command is, on a terminal: a bar with the time left where rich is installed, else a line of text."""
from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager

from codipy.tools.console.table import line_width

__all__ = ["shown_progress"]


@contextmanager
def shown_progress(title):
    """A function ``progress(done, total, what="")`` that shows it on standard error; None where that is no terminal.

    It draws when it is called, and no thread does in between: measurements are not disturbed.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with (_text if importlib.util.find_spec("rich") is None else _bar)(title) as progress:
        yield progress


@contextmanager
def _bar(title):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task(title, total=None)

        def progress(done, total, what=""):
            bar.update(task, completed=done, total=total, description=f"{title} {what}".strip())
            bar.refresh()

        yield progress


@contextmanager
def _text(title):
    longest = 0

    def progress(done, total, what=""):
        nonlocal longest
        line = f"{title} {done}/{total} {what}".rstrip()[:line_width() - 1]      # a line that wraps stays
        longest = max(longest, len(line))
        sys.stderr.write("\r" + line.ljust(longest))
        sys.stderr.flush()

    try:
        yield progress
    finally:
        sys.stderr.write("\r" + " " * longest + "\r")
