# SPDX-License-Identifier: Apache-2.0
"""``np.testing`` of rebound code: its assertions see the values, since nothing comes back from them."""

from __future__ import annotations

import functools

import numpy.testing

from .arguments import value_tree
from .modules import module_for

__all__ = ["FUNCTIONS", "testing"]

_NAMES = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
)  # fmt: skip


def _of_values(function):
    @functools.wraps(function)
    def check(*args, **kwargs):
        return function(*map(value_tree, args), **{name: value_tree(x) for name, x in kwargs.items()})

    return check


FUNCTIONS = {name: _of_values(getattr(numpy.testing, name)) for name in _NAMES}
testing = module_for(numpy.testing, FUNCTIONS)
