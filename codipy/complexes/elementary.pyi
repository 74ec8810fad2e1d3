# SPDX-License-Identifier: Apache-2.0
"""Functions of one active complex number while a tape records: the plain run's value, and Reals for both parts."""

from collections.abc import Callable
from typing import Any

from codipy.active.scalar.real import Real
from codipy.complexes.number import BaseComplex

def of_function(name: str, function: Callable[[Any], Any], z: Any, kind: type) -> Any: ...
def phase_of(z: BaseComplex, function: Callable[[Any], float]) -> Real | None: ...
def turned(size: Any, angle: Any, value: complex) -> Any | None: ...
