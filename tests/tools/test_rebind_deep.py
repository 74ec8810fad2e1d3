# SPDX-License-Identifier: Apache-2.0
"""A gradient that is asked for deep in a recursion is right or a RecursionError, and leaves nothing to the next one."""

import sys

import numpy as np
import pytest

import codipy
from tests.tools.filled import module_of

PROGRAM = """
START = np.ones(4)
def f(p):
    u = START.copy()
    u[0] = p
    w = np.array([[1.0, 2.0], [3.0, 4.0]])
    w[0, 1] = p * p
    return np.sum(u * u) + np.sum(w * w)
"""


def at(depth, f, x):
    return at(depth - 1, f, x) if depth else codipy.grad(f)(x)


def test_a_gradient_near_the_limit_of_recursion(tmp_path, request):
    slope, here, frame = 2.0 * 0.5 + 4.0 * 0.5**3, 0, sys._getframe()
    codipy.grad(lambda x: np.sum(x * x))(np.ones(2))  # what is imported, is imported by now
    while frame is not None:
        here, frame = here + 1, frame.f_back
    outcomes = set()
    for left in range(10, 300, 5):
        name = f"deep_module_of_the_user_{left}"
        request.addfinalizer(lambda name=name: sys.modules.pop(name, None))
        f = module_of(tmp_path, name, PROGRAM).f
        try:
            assert at(sys.getrecursionlimit() - here - left, f, 0.5) == pytest.approx(slope)
            outcomes.add("right")
        except RecursionError:
            outcomes.add("too deep")
        assert codipy.grad(f)(0.5) == pytest.approx(slope), left
    assert outcomes == {"right", "too deep"}
