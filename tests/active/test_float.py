# SPDX-License-Identifier: Apache-2.0
"""Where a Real must not be told from a float."""

import pytest

import codipy


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, -2.0, 1e308, float("inf"), float("nan")])
@pytest.mark.parametrize("other", [0.0, -0.0, 0, 3, -0.7, True, 1e-320, float("inf")])
def test_divmod_is_that_of_float(value, other):
    def outcome(x, y):
        try:
            return repr(tuple(map(codipy.value, divmod(x, y))))
        except ZeroDivisionError as error:
            return str(error)

    with codipy.Tape() as tape:
        x = tape.register_input(value)
        assert outcome(x, other) == outcome(value, other)
        assert outcome(other, x) == outcome(other, value)
