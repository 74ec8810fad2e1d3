# SPDX-License-Identifier: Apache-2.0
"""The strategies by name, and the choices that a tape leaves to who makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from codipy.tape.strategies.forward import Forward
from codipy.tape.strategies.jacobian import Jacobian
from codipy.tape.strategies.primal import Primal
from codipy.tape.strategies.simple import Simple
from codipy.tape.strategies.strategy import Strategy

__all__ = ["AUTO", "FORWARD_STRATEGY", "GRANULARITIES", "STORES", "STRATEGIES", "check_choice", "stored_as"]

_T = TypeVar("_T", bound=str)

FORWARD_STRATEGY = "forward"
# What makes the streams, identifiers and sweeps of a strategy, for a size of chunks.
STORES: dict[str, Callable[[int | None], Strategy]] = {
    "simple": Simple,
    "jacobian": partial(Jacobian, False),
    "jacobian-reuse": partial(Jacobian, True),
    "primal": partial(Primal, False),
    "primal-reuse": partial(Primal, True),
    FORWARD_STRATEGY: lambda _: Forward(),
}
STRATEGIES = ("auto", *[name for name in STORES if name != FORWARD_STRATEGY])  # that can be swept
GRANULARITIES = ("statement", "operation")
AUTO = "jacobian"  # how "auto" records scalars, what measures best: docs/design/strategies.md


def stored_as(strategy: str) -> str:
    """The strategy that says how scalar statements are stored: that of `auto` is what measures best for scalars."""
    return AUTO if strategy == "auto" else strategy


def check_choice(name: str, value: _T, choices: Sequence[str]) -> _T:
    """Return `value` if it is one of `choices`, else raise an error that lists them."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {', '.join(map(repr, choices))}, got {type(value).__name__}")
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}: choose one of {', '.join(map(repr, choices))}")
    return value
