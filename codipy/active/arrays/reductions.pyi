# SPDX-License-Identifier: Apache-2.0
"""Sums and means of arrays: NumPy's own summation, and a broadcast in reverse."""

from collections.abc import Callable

def learn_sums(door: int, add_temporary: Callable[[], object], add_variable: Callable[[], object]) -> None: ...
