# SPDX-License-Identifier: Apache-2.0
"""`numpy.emath` makes arrays of its arguments: a float of Python is a double there, beside single numbers too."""

import itertools

import numpy as np
import pytest

import codipy

NUMBERS = {"float": 0.3, "float64": np.float64(0.3), "float32": np.float32(0.3), "below": np.float32(-0.3),
           "complex": 0.3 + 0.2j, "complex128": np.complex128(0.3 + 0.2j), "complex64": np.complex64(0.3 + 0.2j),
           "integer": 2, "int8": np.int8(2), "single": np.array([0.3, 0.4], np.float32),
           "double": np.array([0.3, 0.4]), "complex single": np.array([0.3 + 0.1j, 0.4], np.complex64),
           "flat": np.array(0.3, np.float32)}  # fmt: skip
ACTIVE = [name for name in NUMBERS if name not in ("integer", "int8", "flat")]


@pytest.mark.parametrize("name", ["power", "logn"])
@pytest.mark.parametrize("active", ACTIVE)
def test_types_and_bits_are_numpys(name, active):
    for other, place in itertools.product(NUMBERS, (0, 1)):
        given = [NUMBERS[active], NUMBERS[other]][:: 1 if place == 0 else -1]
        expected = getattr(np.emath, name)(*given)
        with codipy.Tape() as tape:
            given[place] = tape.register_input(given[place])
            found = getattr(codipy.numpy.emath, name)(*given)
        assert found.dtype == expected.dtype, (other, place)
        assert np.array_equal(found.value, expected, equal_nan=True), (other, place)
