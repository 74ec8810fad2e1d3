# SPDX-License-Identifier: Apache-2.0
"""Who asks for the plain value of a variable: the user's line, or codipy for itself."""
from __future__ import annotations

from codipy.laboratory.sampled import is_program
from codipy.laboratory.trouble.lines import line_of
from codipy.tools.arguments.trees import value

__all__ = ["asked_by"]


def asked_by(frame):
    """The user's Line that asks, itself or by ``codipy.value``; None if codipy asks for itself."""
    inner = None
    while frame is not None and not is_program(frame):
        inner, frame = frame, frame.f_back
    if frame is None or inner is not None and inner.f_code is not value.__code__:
        return None
    return line_of(frame)
