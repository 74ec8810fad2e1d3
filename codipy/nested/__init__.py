# SPDX-License-Identifier: Apache-2.0
"""Derivatives inside of functions that are differentiated: a recording run again, on the one that encloses it."""

from codipy.nested.program import AdjointProgram

__all__ = ["AdjointProgram"]
