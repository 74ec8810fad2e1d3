# SPDX-License-Identifier: Apache-2.0
"""Errors of codipy that the function caught, and what a library makes of them: the driver raises them."""

import array
import contextlib
import gc
import threading
import weakref

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from codipy.tools import swallowed
from tests.strategies import each_strategy

pytestmark = pytest.mark.usefixtures("older_objects_stay")


def leaves(x):
    """What cannot be followed."""
    return array.array("d", [x])[0]


def falls_back(x):
    try:
        return leaves(x) * 3.0
    except Exception:
        return x * 0.0


def suppresses(x):
    with contextlib.suppress(TypeError):
        return leaves(x) * 3.0
    return x


@contextlib.contextmanager
def forgiving():
    try:
        yield
    except Exception as error:
        str(error)


def in_a_context_of_its_own(x):
    y = 0.0
    with forgiving():
        y = leaves(x)
    return y + x


def caught_after_it_was_raised_again(x):
    try:
        try:
            return leaves(x)
        except TypeError:
            raise
    except Exception:
        return x


def caught_outside(x):
    try:
        return falls_through(x)
    except Exception:
        return x


def falls_through(x):
    try:
        return leaves(x)
    except TypeError as error:
        raise ValueError("no number") from error


class Fallible:
    def __init__(self):
        self.rate = 0.0

    def __call__(self, x):
        try:
            self.rate = leaves(x)
        except Exception:
            self.rate = 1.0
        return self.rate * x


CASES = [falls_back, suppresses, in_a_context_of_its_own, caught_after_it_was_raised_again, caught_outside, Fallible()]


@pytest.mark.parametrize("f", CASES, ids=lambda f: getattr(f, "__name__", "Fallible"))
@pytest.mark.parametrize("rebind", [True, False])
@each_strategy
def test_another_branch_than_the_plain_run_is_an_error(f, rebind, strategy):
    for driver in (codipy.grad, codipy.value_and_grad, codipy.jacobian):
        for _ in range(2):
            with pytest.raises(ActiveError, match=r"was caught \(test_swallowed\.py:\d+: .*another branch.*float\(\)"):
                driver(f, rebind=rebind, strategy=strategy)(2.0)
    assert not swallowed.raised


def test_all_drivers():
    for call in (lambda: codipy.vjp(falls_back, 2.0), lambda: codipy.jvp(falls_back, (2.0,), (1.0,)),
                 lambda: codipy.compare(falls_back, 2.0, repeat=1), lambda: codipy.check_derivatives(falls_back, 2.0),
                 lambda: codipy.grad(lambda x: falls_back(x[0]))([2.0]),
                 lambda: codipy.grad(lambda x: falls_back(x[0]))(np.ones(2))):  # fmt: skip
        with pytest.raises(ActiveError, match="was caught"):
            call()
    assert not swallowed.raised


def test_stale_variables_are_of_the_same_kind():
    kept = []

    def f(x):
        kept.append(x * x)
        try:
            return x * kept[0]
        except RuntimeError:
            return x

    assert codipy.grad(f)(1.0) == 3.0
    with pytest.raises(TapeError, match=r"was caught \(test_swallowed.*`kept\[0\]` is from an earlier call"):
        codipy.grad(f)(1.0)


def test_what_the_plain_run_raises_is_the_functions_own():
    def f(x):
        try:
            y = np.linalg.cholesky(-np.eye(2) * x)[0, 0]
        except np.linalg.LinAlgError:
            y = x * x
        try:
            y = y + float("nothing")
        except ValueError:
            y = y * 2.0
        try:
            y = y + np.zeros(2)[3]
        except IndexError:
            return y + (x if hasattr(x, "nothing") else 0.0)

    assert codipy.grad(f)(2.0) == pytest.approx(8.0)


def test_who_names_the_errors_knows_what_is_caught():
    def f(x):
        try:
            return leaves(x)
        except ActiveError:
            return x * x

    assert codipy.grad(f)(3.0) == 6.0


def test_an_error_that_comes_out_leaves_nothing_behind():
    def raises(x):
        held = Held()
        seen.append(weakref.ref(held))
        return leaves(x)

    class Held:
        pass

    seen = []
    for driver in (codipy.grad(raises), codipy.jacobian(raises), lambda x: codipy.vjp(raises, x)):
        with pytest.raises(ActiveError, match="^float"):
            driver(2.0)
    gc.collect()
    assert not swallowed.raised and all(reference() is None for reference in seen)
    assert codipy.grad(lambda x: x * x)(3.0) == 6.0


def test_a_tape_of_ones_own_keeps_nothing():
    with codipy.Tape() as tape:
        falls_back(tape.register_input(2.0))
    assert not swallowed.raised


def test_many_errors_are_not_all_kept():
    def f(x):
        for _ in range(1000):
            np.testing.assert_allclose(1.0, 1.0)
            falls_back(x)
        assert len(swallowed.raised) <= swallowed._MANY
        return x

    with pytest.raises(ActiveError, match="was caught"):
        codipy.grad(f)(2.0)


def test_a_nested_driver_that_failed_in_silence():
    def f(x):
        try:
            inner = codipy.grad(lambda t: leaves(t))(1.0)
        except Exception:
            inner = 1.0
        return x * inner

    with pytest.raises(ActiveError, match="was caught"):
        codipy.grad(f)(2.0)


@pytest.mark.parametrize("inside", [True, False])
def test_what_a_thread_of_the_function_was_refused(inside):
    from concurrent.futures import ThreadPoolExecutor

    def square(x):
        try:
            return x * x
        except RuntimeError:
            if not inside:
                raise
            return 0.0

    def f(x):
        with ThreadPoolExecutor(2) as pool:
            try:
                return x * sum(pool.map(square, [x, x]))
            except RuntimeError:
                return x

    with pytest.raises(TapeError, match=r"was caught .*on another thread"):
        codipy.grad(f)(2.0)
    assert not swallowed.raised


def test_what_a_library_makes_of_it_is_said_in_our_words():
    sparse = pytest.importorskip("scipy.sparse")

    def f(x):
        return (sparse.csr_matrix(np.diag(x)) @ x)[0]

    with pytest.raises(ActiveError, match=r"scipy\.sparse.*test_swallowed\.py"):
        codipy.grad(f)(np.ones(2))
    linalg = pytest.importorskip("scipy.sparse.linalg")
    with pytest.raises(ActiveError, match=r"compiled code was given an array or number of .* \(test_swallowed\.py"):
        codipy.grad(lambda x: linalg.splu(sparse.eye(2).tocsc()).solve(x)[0], rebind=False)(np.ones(2))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("nested", [False, True])
def test_what_a_thread_died_of(nested):
    def body(x, t):
        results = []
        thread = threading.Thread(target=lambda: results.append(x * t))
        thread.start()
        thread.join()
        return np.sum(results[0]) if results else np.sum(x) * 0.0

    def f(x):
        return codipy.grad(lambda t: body(x, t))(1.0) if nested else body(x, 2.0)

    with pytest.raises(TapeError, match="an error of codipy was caught .*threading.py"):
        codipy.grad(f)(np.array([1.0, 2.0]))
