# SPDX-License-Identifier: Apache-2.0
"""What solvers call in the place of a user's function: it has that one's attributes, and what they set is set there."""

from __future__ import annotations

from codipy.numpy.arguments import value_tree

__all__ = ["Wrapped"]


class Wrapped:
    """A function in the place of another one.

    Solvers read more of a function than they call: the ``terminal`` and ``direction`` of an event, the ``stepsize`` of
    what takes the steps of ``basinhopping``, which they change too, and signatures. Rejected: `functools.wraps`, which
    copies what an instance has itself, and no attributes of its class, properties or changes.

    Parameters
    ----------
    function : callable
        The user's.
    call : callable
        What is called instead.
    """

    __slots__ = ("_call", "__wrapped__")

    def __init__(self, function, call):
        object.__setattr__(self, "__wrapped__", function)
        object.__setattr__(self, "_call", call)

    def __call__(self, *args, **named):
        return self._call(*args, **named)

    def __getattr__(self, name):
        found = getattr(self.__wrapped__, name)
        return found if name.startswith("__") else value_tree(found)      # no tree of globals is a value

    def __setattr__(self, name, x):
        setattr(self.__wrapped__, name, x)
