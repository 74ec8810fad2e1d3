# SPDX-License-Identifier: Apache-2.0
"""Signatures of extension types for `inspect`, which reads none from documentation that is indented."""

from __future__ import annotations

__all__ = ["Signature"]


class Signature:
    """``__signature__`` of a type whose documentation begins with ``Name(parameters)``, and of subclasses made like it.

    Made when asked for: `inspect` takes longer to import than the type.
    """

    def __get__(self, instance, owner=None):
        kind = next(base for base in owner.__mro__ if base.__dict__.get("__signature__") is self)
        if instance is not None or owner.__init__ is not kind.__init__ or owner.__new__ is not kind.__new__:
            raise AttributeError("__signature__")
        import inspect

        parameters = kind.__doc__.partition("\n")[0].partition("(")[2].rpartition(")")[0]
        return inspect.signature(eval(f"lambda {parameters}: None".replace("lambda :", "lambda:")))
