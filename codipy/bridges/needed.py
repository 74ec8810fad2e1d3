# SPDX-License-Identifier: Apache-2.0
"""The other package, when its bridge is used, or how to get it."""
from __future__ import annotations

import importlib

__all__ = ["needed"]


def needed(module, package, asked):
    """Import a module of another package; an ImportError says what asked for it and what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"codipy.bridges.{asked} needs {package}: pip install {package}") from error
