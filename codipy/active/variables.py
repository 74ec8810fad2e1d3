# SPDX-License-Identifier: Apache-2.0
"""Registered variables as plain data: what `codipy.active.registered` knows of each, and makes it again from."""
from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from codipy.data.buffer import Buffer


class RegisteredReal(NamedTuple):
    """A Real as it was registered.

    Attributes
    ----------
    identifier : int
        Its slot in adjoint vectors.
    epoch : int
        From which on it is on the tape.
    value : float
    kind : int
        Which number of the plain run it stands for: 0 a float, 1 a numpy.float32, 2 a numpy.float64.
    is_input : bool
        Whether its value may be set.
    of_input : bool
        Whether no statement consumes its adjoint.
    of_array : bool
        Whether it is an element, whose statement may be older than its epoch.
    """

    identifier: int
    epoch: int
    value: float
    kind: int
    is_input: bool
    of_input: bool
    of_array: bool


class RegisteredArray(NamedTuple):
    """An Array as it was registered.

    Attributes
    ----------
    first, size : int
        Its identifiers, of all elements of its memory; a size of 0 where it is passive.
    epoch : int
        From which on they are on the tape.
    values : Buffer
        As many.
    offset, shape, strides : int, tuple, tuple
        Which of them it shows, in elements.
    single : bool
        Whether its dtype is float32.
    is_input : bool
        Whether its values may be set.
    of_input : bool
        Whether no statement consumes its adjoints.
    of_elements : bool
        Whether its identifiers were handed out one by one.
    """

    first: int
    size: int
    epoch: int
    values: Buffer
    offset: int
    shape: tuple
    strides: tuple
    single: bool
    is_input: bool
    of_input: bool
    of_elements: bool
