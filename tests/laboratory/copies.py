# SPDX-License-Identifier: Apache-2.0
"""Studies that measure in copies of this process."""

import contextlib
import multiprocessing
from unittest import mock

from codipy.laboratory import process, worker

__all__ = ["in_copies"]


@contextlib.contextmanager
def in_copies():
    """Fork where a study starts a process that imports everything first, and a test asks for no more by that.

    What a study asks, keeps, compares and says is the same, and takes a third of the processor time. Without fork
    processes are fresh.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        yield
        return
    worker.import_what_recordings_need()      # once, and not in each copy
    with mock.patch.object(process, "_fresh", process._forked):
        yield
