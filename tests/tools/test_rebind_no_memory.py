# SPDX-License-Identifier: Apache-2.0
"""Each allocation of a gradient fails once: it is raised, or the rebuilt function runs, never the one as it stands."""

import linecache
import sys

import numpy as np
import pytest

import codipy
from tests.no_memory import failing_allocations
from tests.strategies import each_strategy
from tests.tools.filled import module_of

allocations = failing_allocations()

X = np.linspace(0.5, 1.5, 3)
ALLOCATIONS = 150  # more than a driver makes before the function runs
DRIVERS = {
    "gradient": lambda f, strategy: codipy.grad(f, strategy=strategy)(X),
    "jacobian": lambda f, strategy: codipy.jacobian(f, strategy=strategy)(X),
    "product": lambda f, strategy: codipy.vjp(f, X, strategy=strategy)[1](1.0),
}


def branches(x):
    """The plain run takes the first branch; what is not rebuilt would take the second."""
    total = 0.0
    for number in x:
        total = total + (number * number if isinstance(number, float) else 100.0 * number)
    return total


# Python says so of a generator that is closed where a new exception has no memory.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@each_strategy
@pytest.mark.parametrize("driver", DRIVERS)
def test_the_function_as_it_stands_never_runs(driver, strategy):
    drive = DRIVERS[driver]
    expected = 2.0 * X
    np.testing.assert_array_equal(np.ravel(drive(branches, strategy)), expected)
    failed = 0
    for n in range(ALLOCATIONS):
        found = None
        allocations.fail(n)
        try:
            found = drive(branches, strategy)
        except (MemoryError, SystemError):  # the second is what some functions of NumPy make of it
            failed += 1
        finally:
            allocations.restore()
        if found is not None:
            np.testing.assert_array_equal(np.ravel(found), expected, err_msg=str(n))
    assert failed > 0
    np.testing.assert_array_equal(np.ravel(drive(branches, strategy)), expected)


FILLED = """
START = np.ones(4)
def f(p):
    u = START.copy()
    u[0] = p
    return np.sum(u * u)
"""
PLACES = [int(1.3**k) for k in range(8, 38)]  # of some 15,000 allocations


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_is_read_of_a_source_is_read_again(tmp_path, request):
    """A file that was read while memory ran short was one without a source for ever."""
    outcomes = set()
    for n in PLACES:
        name = f"module_that_is_read_{n}"
        request.addfinalizer(lambda name=name: sys.modules.pop(name, None))
        f = module_of(tmp_path, name, FILLED).f
        allocations.fail(n)
        try:
            outcomes.add(codipy.grad(f)(0.5))
        except (MemoryError, SystemError):
            outcomes.add("no memory")
        finally:
            allocations.restore()
        assert codipy.grad(f)(0.5) == 1.0, n
    assert outcomes <= {"no memory", 1.0} and "no memory" in outcomes


def test_lines_that_have_no_memory_are_not_a_missing_source(tmp_path, request, monkeypatch):
    """`linecache.getlines` says that a file has no lines where there is no memory for them."""

    def without_memory(filename, module_globals=None):
        raise MemoryError

    request.addfinalizer(lambda: sys.modules.pop("module_without_lines", None))
    f = module_of(tmp_path, "module_without_lines", FILLED).f
    with monkeypatch.context() as patch:
        patch.setattr(linecache, "updatecache", without_memory)
        with pytest.raises(MemoryError):
            codipy.grad(f)(0.5)
    assert codipy.grad(f)(0.5) == 1.0
