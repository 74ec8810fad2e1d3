# SPDX-License-Identifier: Apache-2.0
"""Where a study was measured: versions, processor, memory."""
from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path

import numpy as np

from codipy.version import __version__

__all__ = ["environment"]


def environment():
    """What a reader has to know to believe the numbers, as a dictionary of texts and numbers."""
    return {
        "codipy": __version__, "python": platform.python_version(), "numpy": np.__version__,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}", "processor": _processor(),
        "processors": os.cpu_count(), "memory": _memory(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


def _processor():
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):      # Windows
        return None
