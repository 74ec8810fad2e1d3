# SPDX-License-Identifier: Apache-2.0
"""rebind and cells: closures keep theirs where somebody sets them, and follow what is put into them."""

import numpy as np
import pytest

from codipy.tools.rebind import rebind
from tests.tools.rebound import check


def filled(x):
    z = np.zeros(3)
    z[1] = x * x
    return z


def test_closures():
    def outer(xp):
        n = 2

        def inner(x):
            nonlocal n
            n += 1
            z = xp.zeros(2)
            z[0] = x * local(x)
            return z[0]

        def local(x, depth=3):
            return filled(x)[1] if depth == 0 else local(x, depth - 1)

        return inner, lambda: n

    inner, count = outer(np)
    check(inner)
    before = count()
    rebind(inner)(2.0)
    assert count() == before + 1  # nonlocal writes are the original's too


def test_a_cell_that_is_filled_anew_is_seen():
    helper = filled

    def f(x):
        return helper(x)[1]

    g = rebind(f)
    assert g(2.0) == 4.0
    helper = lambda x: [0.0, x]  # noqa: E731
    assert g(2.0) == 2.0


@pytest.mark.parametrize("order", ["f first", "swap first"])
def test_a_cell_that_another_function_sets_is_shared(order):
    def outer():
        helper = filled

        def f(x):
            return helper(x)[1]

        def swap():
            nonlocal helper
            helper = lambda x: [0.0, -x]  # noqa: E731

        if order == "f first":
            def g(x):
                before = f(x)
                swap()
                return before, f(x)
        else:
            def g(x):
                before = [filled(x)[1], swap()][0]
                return before, f(x)
        return g, f

    g, f = outer()
    rebind(f)(1.0)
    assert rebind(g)(3.0) == (9.0, -3.0)
    assert f(3.0) == -3.0 == rebind(f)(3.0)


def test_a_cell_that_a_function_found_at_run_time_sets():
    class Switch:
        def __init__(self, swap):
            self.swap = swap

        def rate(self, x):
            return filled(x)[1]

    def outer():
        helper = filled

        def f(x):
            return helper(x)[1]

        def swap():
            nonlocal helper
            float(1)
            helper = lambda x: [0.0, -x]  # noqa: E731

        switch = Switch(swap)

        def g(x):
            before = f(x) + switch.rate(x)
            switch.swap()
            return before

        return g, f

    g, f = outer()
    assert rebind(g)(3.0) == 18.0
    assert f(3.0) == -3.0 == rebind(f)(3.0)
