# SPDX-License-Identifier: Apache-2.0
"""State kept between calls: errors name the variable, the line and a cure that works; lists of results are numbers."""

import re
from collections import deque

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.strategies import each_strategy

CACHE: dict = {}
MEMORY = None


class Model:
    def __init__(self):
        self.time, self.u = 0.0, np.ones(2)

    def scalar(self, dt):
        self.time += dt
        return self.time * self.time

    def array(self, dt):
        self.u = self.u * dt
        return np.sum(self.u)

    def scalar_mended(self, dt):
        self.time += dt
        loss = self.time * self.time
        self.time = codipy.value(self.time)
        return loss

    def array_mended(self, dt):
        self.u = self.u * dt
        loss = np.sum(self.u)
        self.u = codipy.value(self.u).copy()
        return loss


class Slotted:
    __slots__ = ("by",)

    def __call__(self, x):
        if not hasattr(self, "by"):
            self.by = x * x
        return self.by * x


def cached(x):
    if "k" not in CACHE:
        CACHE["k"] = np.exp(x)
    return CACHE["k"] * x


def fetched(x):
    found = CACHE.setdefault("a", x * 2.0)
    return np.sum(
        found
        + x
    )  # fmt: skip


def in_pairs(x):
    CACHE.setdefault("p", []).append((x, x * x))
    return sum(pair[0] * pair[1] for pair in CACHE["p"])


def in_a_queue(x):
    queue = CACHE.setdefault("q", deque(maxlen=3))
    queue.append(x * x)
    return sum(queue)


def element(x):
    CACHE.setdefault("e", x * 2.0)
    return CACHE["e"][0] * x


def stores_global(x):
    global MEMORY
    if MEMORY is None:
        MEMORY = x * x
    return x + MEMORY


def closure():
    state = None

    def f(x):
        nonlocal state
        if state is None:
            state = x * x
        return state * x

    return f


@pytest.fixture(autouse=True)
def fresh():
    global MEMORY
    MEMORY = None
    CACHE.clear()


CASES = [
    (lambda: Model().scalar, 1.0, "self.time", "self.time = codipy.value(self.time)`", "self.time += dt"),
    (lambda: Model().array, 1.0, "self.u", "self.u = codipy.value(self.u).copy()`", "self.u = self.u * dt"),
    (lambda: Slotted(), 1.0, "self.by", "self.by = codipy.value(self.by)`", "return self.by * x"),
    (lambda: cached, 1.0, "CACHE['k']", "CACHE['k'] = codipy.value(CACHE['k'])`", 'return CACHE["k"] * x'),
    (lambda: fetched, np.ones(2), "found`, which `CACHE['a']", "CACHE['a'] = codipy.value(CACHE['a']).copy()`", ""),
    (lambda: element, np.ones(2), "CACHE['e']", "CACHE['e'] = codipy.value(CACHE['e']).copy()`",
     'return CACHE["e"][0] * x'),
    (lambda: in_pairs, 1.0, "pair[0]", "keep codipy.value(...) where it is stored", "return sum(pair[0] * pair[1]"),
    (lambda: in_a_queue, 1.0, "CACHE['q'][0]", "CACHE['q'][0] = codipy.value(CACHE['q'][0])`", ""),
    (lambda: stores_global, 1.0, "MEMORY", "MEMORY = codipy.value(MEMORY)`", "return x + MEMORY"),
    (closure, 1.0, "state", "state = codipy.value(state)`", "return state * x"),
]  # fmt: skip


@pytest.mark.parametrize("driver", [codipy.grad, codipy.jacobian])
@pytest.mark.parametrize(("make", "x", "name", "cure", "line"), CASES, ids=[case[2] for case in CASES])
def test_the_variable_the_line_and_the_cure_are_named(make, x, name, cure, line, driver):
    f = make()
    if f is element:
        driver = codipy.jacobian
    driver(f)(x)
    with pytest.raises(TapeError) as caught:
        driver(f)(x)
    text = str(caught.value)
    assert text.startswith(f"`{name}") and cure in text, text
    assert re.search(r"test_earlier\.py:\d+: `" + re.escape(line), text), text


@each_strategy
@pytest.mark.parametrize("name", ["scalar", "array"])
def test_the_cure_works(name, strategy):
    model, plain = Model(), Model()
    f, g = getattr(model, name + "_mended"), getattr(plain, name)
    for dt in (0.5, 0.25):
        before, u = plain.time, plain.u.copy()
        value, slope = codipy.value_and_grad(f, strategy=strategy)(dt)
        assert value == g(dt)
        np.testing.assert_allclose(slope, 2 * (before + dt) if name == "scalar" else u.sum())
    assert model.scalar_mended(1.0) == plain.scalar(1.0) and model.array_mended(2.0) == plain.array(2.0)


def test_an_array_that_is_returned_and_found_nowhere_is_the_result():
    kept = iter([])

    def f(x):
        nonlocal kept
        kept = iter([found := next(kept, x * x), found])
        return next(kept)

    codipy.jacobian(f)(np.ones(2))
    with pytest.raises(TapeError, match="what the function returns is from an earlier call"):
        codipy.jacobian(f)(np.ones(2))


def test_a_variable_of_an_outer_recording_is_not_called_earlier():
    with codipy.Tape() as outer:
        x = outer.register_input(2.0)
        with codipy.Tape() as inner, pytest.raises(TapeError, match=r"^Real.*another tape.*driver.*tape\.nested\(x\)"):
            inner.register_input(1.0) * x
        several, filled = outer.register_input(np.ones(3)), np.zeros(3) * x
        filled[0] = x
        for array in (several, filled):
            with codipy.Tape() as inner, pytest.raises(TapeError, match=r"^an Array.*driver.*tape\.nested\(x\)"):
                np.exp(inner.register_input(1.0) * array)


def test_reading_a_variable_runs_no_code_of_the_users():
    class Loud:
        def __getattr__(self, name):
            raise AssertionError(name)

        @property
        def kept(self):
            raise AssertionError

        def __getitem__(self, key):
            raise AssertionError(key)

    loud, kept = Loud(), []

    def f(x):
        kept.append(x * x)
        assert loud is not None
        return x * kept[0] if len(kept) == 1 else kept[0] * x * loud.size * loud.kept * loud[0]

    codipy.grad(f)(1.0)
    with pytest.raises(TapeError, match=r"^`kept\[0\]` is"):
        codipy.grad(f)(1.0)


def test_a_list_of_losses_is_a_list_of_numbers():
    losses, plain = [], []

    def f(x):
        losses.append(np.sum(x * x))
        return losses[-1]

    for k in range(3):
        plain.append(np.sum((np.ones(3) + k) ** 2))
        codipy.grad(f)(np.ones(3) + k)
    assert np.array(losses).dtype == np.array([losses[0]]).dtype == np.asarray(losses[0]).dtype == np.float64
    for use in (np.array, np.mean, np.std, np.diff, np.isfinite, np.log, np.cumsum, np.argmin, np.min,
                lambda v: np.zeros(3) + v[0], lambda v: v[1] * np.arange(3.0), lambda v: np.linspace(0.0, v[2], 3),
                lambda v: np.polyfit([0, 1, 2], v, 1), lambda v: np.array([v[1] - v[0], v[2] * 2.0]),
                lambda v: round(v[0], 1), lambda v: f"{v[0]:.2f} {v[1]}"):  # fmt: skip
        np.testing.assert_array_equal(use(losses), use(plain))
        assert np.asarray(use(losses)).dtype == np.asarray(use(plain)).dtype
    with codipy.passive():
        assert np.array(losses).dtype == object

    def objects(x):
        array = np.array([x, x * x], dtype=object)  # in a recording they stay what they are
        return array[0] * array[1] if array.dtype == object else 0.0

    assert codipy.grad(objects, rebind=False)(2.0) == pytest.approx(12.0)
    assert codipy.grad(lambda x: np.array([x, x * x])[1], rebind=False)(2.0) == pytest.approx(4.0)


class Filling:
    """Fills an array of its own by elements, in each call."""

    def __init__(self, has_begun):
        self.work, self._has_begun = np.zeros(2), has_begun

    def __call__(self, u):
        if self._has_begun:
            self.work[:] = 0.0
        self.work[0] = u * u
        self.work[1] = self.work[0] * 3.0
        return self.work.copy()


@pytest.mark.parametrize("has_begun", [False, True])
def test_elements_of_an_array_that_inner_recordings_fill(has_begun):
    def f(x):
        filling = Filling(has_begun)
        return sum(codipy.grad(lambda u: np.sum(filling(u) * x))(k) for k in (1.0, 2.0))

    if has_begun:
        np.testing.assert_allclose(codipy.grad(f)(3.0), 24.0, rtol=1e-14)
        return
    words = r"`self.work` is written to by elements \(test_earlier.py:\d+: .*begin with `self.work\[:\] = 0.0`"
    with pytest.raises(TapeError, match=words):
        codipy.grad(f)(3.0)
