# SPDX-License-Identifier: Apache-2.0
"""Variables of a recording that is over are their values while nothing records; inside of one they are errors."""

import copy
import io
import math
import pickle
import threading

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.strategies import each_strategy

POINT = np.array([1.0, 2.0, 4.0])


def keep(u, kept):
    v = u * 2.0
    total = np.sum(v * v)
    mixed = v.copy()
    mixed[0] = total
    kept.update(real=total, pending_real=total * 2.0, element=v[1], array=v, pending=u * 3.0 + 1.0, mixed=mixed)
    kept["view"] = v[1:]
    return total


def plain():
    kept = {}
    keep(POINT.copy(), kept)
    return kept


SCALARS, ARRAYS = ("real", "pending_real", "element"), ("array", "pending", "mixed", "view")


@pytest.fixture(params=["after a driver", "its tape is gone", "after a reset"])
def kept(request):
    found = {}
    if request.param == "after a driver":
        codipy.grad(lambda u: keep(u, found))(POINT)
        return found
    tape = codipy.Tape()
    with tape:
        keep(tape.register_input(POINT), found)
    if request.param == "after a reset":
        tape.reset()
        found["tape"] = tape
    return found


@pytest.mark.parametrize("name", SCALARS)
def test_numbers(kept, name):
    x, value = kept[name], plain()[name]
    assert float(x) == value and complex(x) == value and math.sqrt(x) == math.sqrt(value)
    assert pickle.loads(pickle.dumps(x)).value == value and f"{x:.3f}" == f"{value:.3f}"
    assert np.mean([x, x]) == sum([x, x]) / 2 == value and np.asarray([x, 1.0], float)[0] == value
    assert codipy.value(x * 2.0) == value * 2.0 and not (x * 2.0).is_active and np.sin(x) == np.sin(value)
    work = np.zeros(2)
    work[0] = x
    assert work[0] == value and str(value) in repr(x)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(kept, name):
    a, value = kept[name], plain()[name]
    for found in (np.asarray(a), np.array(a), pickle.loads(pickle.dumps(a)).value, a.tolist(), copy.deepcopy(a).value):
        np.testing.assert_array_equal(found, value)
    for f in (np.mean, np.max, np.sum, np.std, lambda x: x[0], lambda x: x.mean(), lambda x: float(x[1])):
        assert codipy.value(f(a)) == f(value)
    for f in (np.sort, lambda x: x * 2.0, np.exp, lambda x: np.stack([x, x]), lambda x: np.array([x, x])):
        np.testing.assert_array_equal(codipy.value(f(a)), f(value))
    assert repr(a).startswith("Array(")
    file = io.BytesIO()
    np.save(file, a)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), value)


@pytest.mark.parametrize("name", [*SCALARS, *ARRAYS])
@pytest.mark.parametrize(
    "use",
    [lambda x: x * 2.0, np.asarray, lambda x: float(np.max(x)), np.mean, lambda x: pickle.dumps(x), np.sin,
     lambda x: np.zeros(3).__setitem__(slice(len(np.shape(x)), 1 + np.size(x)), x)],
)  # fmt: skip
def test_inside_of_a_recording_they_are_errors(kept, name, use):
    """A cache that one gradient filled must not be read by the next: its derivative would be lost."""

    def f(x):
        use(kept[name])
        return x * x

    if use is np.asarray and name in SCALARS:
        pytest.skip("an array of dtype object keeps the variable")
    with pytest.raises((TapeError, ActiveError)):
        codipy.grad(f, rebind=False)(2.0)


class Work:
    """Arrays that one call leaves and the next one finds: one of a block, one of elements, and a view of each."""

    def fill(self, x):
        self.whole = np.sin(x)
        self.mixed = np.array([x[0], 2.0, x[1] * x[2]])
        self.views = self.whole[1:], self.mixed[:2]


WHOLE = {
    "an index": lambda a, x: a.__setitem__(slice(None), x * x),
    "an ellipsis": lambda a, x: a.__setitem__(..., np.exp(x)),
    "a number": lambda a, x: a.__setitem__(slice(None), 0.5),
    "a list": lambda a, x: a.__setitem__(slice(None), [x[1], 1.0, x[0]]),
    "out": lambda a, x: np.multiply(x, x[1], out=a),
    "fill": lambda a, x: a.fill(x[2]),
    "backwards": lambda a, x: a.__setitem__(slice(None, None, -1), x * x),
}


@pytest.mark.parametrize("which", ["whole", "mixed"])
@pytest.mark.parametrize("name", WHOLE)
@each_strategy
def test_what_an_earlier_recording_left_may_be_overwritten_whole(strategy, name, which):
    """Nothing of it stays, also where a view of it is read."""
    point = np.array([0.4, 1.2, -0.7])
    work, plain = Work(), Work()

    def f(x, work):
        if not hasattr(work, "whole"):
            work.fill(x)
        else:
            WHOLE[name](getattr(work, which), x)
        view = work.views[which == "mixed"]
        return np.sum(getattr(work, which) * x) + view[0] * x[1] * view[1]

    f(point, plain)
    codipy.grad(lambda x: f(x, work), strategy=strategy)(point)
    value, gradient = codipy.value_and_grad(lambda x: f(x, work), strategy=strategy)(point)
    assert value == f(point, plain)
    slopes = [(f(point + step, plain) - f(point - step, plain)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("which", ["whole", "mixed"])
@pytest.mark.parametrize("use", [
    lambda a, x: a.__setitem__(slice(1, None), x[1:]), lambda a, x: a.__setitem__(0, x[0]),
    lambda a, x: a.__setitem__(slice(None), a * x), lambda a, x: a.__iadd__(x),
])  # fmt: skip
def test_what_an_earlier_recording_left_may_not_be_overwritten_in_part(use, which):
    work = Work()
    codipy.grad(lambda x: (work.fill(x), np.sum(x))[1])(np.ones(3))
    with pytest.raises(TapeError, match="earlier call"):
        codipy.grad(lambda x: (use(getattr(work, which), x), np.sum(x))[1])(np.ones(3))


@each_strategy
def test_a_cache_over_two_gradients(strategy):
    cache = {}

    def f(x):
        if "k" not in cache:
            cache["k"] = np.exp(x)
        return x * cache["k"]

    gradient = codipy.grad(f, strategy=strategy)
    assert gradient(1.0) == pytest.approx(2 * math.e)
    with pytest.raises(TapeError):
        gradient(1.0)


def test_a_recording_that_rests_gives_values_but_no_arithmetic():
    """The tape still has it: what is computed now may be meant to be recorded."""
    tape = codipy.Tape()
    with tape:
        x, u = tape.register_input(3.0), tape.register_input(POINT)
        y = x * x
        v = u * 2.0
    assert float(y) == 9.0 and math.sin(y) == math.sin(9.0)
    np.testing.assert_array_equal(np.asarray(v), POINT * 2.0)
    for use in (lambda: y * 2.0, lambda: v * 2.0, lambda: np.sum(v)):
        with pytest.raises(TapeError, match="no tape is recording"):
            use()
    with tape, pytest.raises(ActiveError):
        float(y)


def test_while_another_thread_records_its_variables_stay():
    found, done, ready = {}, threading.Event(), threading.Event()

    def record():
        tape = codipy.Tape()
        with tape:
            found["x"], found["u"] = tape.register_input(3.0), tape.register_input(POINT)
            ready.set()
            done.wait(60)

    thread = threading.Thread(target=record)
    thread.start()
    ready.wait(60)
    try:
        for leave in (lambda: float(found["x"]), lambda: np.asarray(found["u"]), lambda: pickle.dumps(found["u"])):
            with pytest.raises(ActiveError):
                leave()
    finally:
        done.set()
        thread.join()
    assert float(found["x"]) == 3.0
