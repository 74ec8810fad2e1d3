# SPDX-License-Identifier: Apache-2.0
"""Callables in the place of NumPy's, and equal to them: functions, and ufuncs with their methods.

Ufuncs ask no protocol of what is in a list. Here they see lists of Reals as Arrays.
"""

from collections.abc import Callable
from typing import Any

class Replacement:
    @property
    def original(self) -> Callable[..., Any]: ...
    def __getattr__(self, name: str) -> Any: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

def itself(original: Callable[..., Any]) -> Callable[..., Any]: ...

class Listed(Replacement):
    def __init__(
        self,
        original: Callable[..., Any],
        convert: Callable[[Any], Any],
        convert_of_methods: Callable[[Any], Any] | None = None,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Asked(Replacement):
    def __init__(
        self,
        original: Callable[..., Any],
        otherwise: Callable[..., Any],
        kinds: frozenset[type],
        first: int,
        unasked: frozenset[str],
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Standing(Replacement):
    def __init__(self, original: Callable[..., Any], function: Callable[..., Any]) -> None: ...
    @property
    def function(self) -> Callable[..., Any]: ...
    def __get__(self, instance: object, owner: type | None) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
