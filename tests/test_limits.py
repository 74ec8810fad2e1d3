# SPDX-License-Identifier: Apache-2.0
"""docs/limits.md: what leaves codipy's sight, tried; what is not in the list of what is lost raises."""

import array
import copy
import ctypes
import datetime
import decimal
import fractions
import functools
import io
import json
import pickle
import random
import statistics
import struct
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError, UndifferentiableError

POINT = np.array([2.0, 3.0])


def to_file(x):
    file = io.StringIO()
    print(x, file=file)
    return float(file.getvalue())


def bisected(x, steps=50):
    low, high = 0.0, 4.0
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if middle**3 > x:
            high = middle
        else:
            low = middle
    return high


def saved(write, x):
    write(io.BytesIO(), x)
    return x[0]


class Marked(np.ndarray):
    """A subclass without anything of its own."""


exec("def without_source(v):\n match v:\n  case np.floating():\n   return v\n return 0.0")

LOST = {  # the value is the plain run's, the slope by x[0] is missing
    "str": lambda x: float(str(x[0])),
    "f-string": lambda x: float(f"{x[0]}"),
    "repr": lambda x: float(repr(x[0].item())),
    "%s": lambda x: float("%s" % x[0]),  # noqa: UP031
    "a file": lambda x: to_file(x[0]),
    "fromstring": lambda x: np.fromstring(" ".join(map(str, x)), sep=" ")[0],
    "eval": lambda x: eval(str(x[0])),
    "a subprocess": lambda x: float(subprocess.check_output([sys.executable, "-c", f"print({x[0]})"])),
    "value": lambda x: codipy.value(x)[0],
    "memory of the value": lambda x: np.frombuffer(codipy.value(x).tobytes())[0],
}
STEPS = {
    "int": lambda x: int(x[0]),
    "round": lambda x: round(x[0]),
    "astype": lambda x: x.astype(int)[0],
    "int64": lambda x: np.int64(x)[0],
    "searchsorted": lambda x: np.searchsorted([1.0, 2.5, 4.0], x[0]),
    "argmax": lambda x: np.argmax(x) + 1,
    "passes of a loop": lambda x: sum(1.0 for _ in range(int(x[0]))),
    "a branch": lambda x: 2.0 if x[0] > 1.0 else 1.0,
    "bisection": lambda x: bisected(x[0]),
}
RAISES = {
    "pickle": (lambda x: pickle.loads(pickle.dumps(x))[0], ActiveError),
    "pickle of a number": (lambda x: pickle.loads(pickle.dumps(x[0])), ActiveError),
    "save": (lambda x: saved(np.save, x), ActiveError),
    "savetxt": (lambda x: saved(np.savetxt, x), ActiveError),
    "array.array": (lambda x: array.array("d", [x[0]])[0], ActiveError),
    "c_double": (lambda x: ctypes.c_double(x[0]).value, ActiveError),
    "tobytes": (lambda x: np.frombuffer(x.tobytes())[0], ActiveError),
    "data": (lambda x: x.data[0], ActiveError),
    "ctypes": (lambda x: x.ctypes.data * x[0], ActiveError),
    "dlpack": (lambda x: np.from_dlpack(x)[0], ActiveError),
    "frombuffer": (lambda x: np.frombuffer(x)[0], BufferError),
    "memoryview": (lambda x: memoryview(x)[0], BufferError),
    "struct": (lambda x: struct.unpack("d", struct.pack("d", x[0]))[0], (struct.error, TypeError)),
    "json": (lambda x: json.loads(json.dumps(x.tolist()))[0], ActiveError),
    "json of a number": (lambda x: json.loads(json.dumps({"loss": float(x[0])}))["loss"], ActiveError),
    "decimal": (lambda x: float(decimal.Decimal(x[0])), TypeError),
    "fraction": (lambda x: float(fractions.Fraction(x[0])), TypeError),
    "a complex number as a float": (lambda x: np.zeros(2).__setitem__(0, 1j * x[0]), TypeError),
    "statistics": (lambda x: statistics.mode([x[0], x[1]]), ActiveError),
    "a normal distribution": (lambda x: statistics.NormalDist(x[0], x[1]).pdf(0.2), ActiveError),
    "timedelta": (lambda x: datetime.timedelta(seconds=x[0]).total_seconds(), ActiveError),
    "timedelta of NumPy": (lambda x: (np.timedelta64(5, "s") * x[0]) / np.timedelta64(1, "s"), TypeError),
    "an array of objects": (lambda x: np.polyval(np.array([fractions.Fraction(1, 2), 1.0]), x)[0], ActiveError),
    "a subclass of ndarray": (lambda x: np.sum(np.ones(2).view(Marked) * x), TypeError),
    "a subclass of ndarray beside a number": (lambda x: np.sum(x[0] * np.ones(2).view(Marked)), TypeError),
    "a matrix": (lambda x: np.sum(np.matrix([[x[0], 1.0], [0.0, x[1]]]).I), TypeError),
    "ratio": (lambda x: x[0].as_integer_ratio()[0], ActiveError),
    "float16": (lambda x: np.float16(x[0]), ActiveError),
    "a class pattern": (lambda x: globals()["without_source"](x[0]), ActiveError),
    "threads": (lambda x: sum(ThreadPoolExecutor(1).map(lambda v: v * 2.0, [x[0]])), TapeError),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", LOST | STEPS)
def test_what_is_a_constant(name):
    f = (LOST | STEPS)[name]
    value, gradient = codipy.value_and_grad(lambda x: f(x) * x[1])(POINT)
    assert value == f(POINT) * 3.0
    np.testing.assert_array_equal(gradient, [0.0, f(POINT)])


def test_bisection_that_ends_with_a_step_of_newton_has_the_derivative_of_the_root():
    def root(x):
        z = bisected(x)
        return z - (z**3 - x) / (3.0 * z**2)

    assert codipy.grad(root)(2.0) == pytest.approx(2.0 ** (-2.0 / 3.0) / 3.0, rel=1e-12)


def test_a_whole_number_that_is_differentiated_by_is_a_float():
    def f(p):
        return p["a"] * p["n"] + (isinstance(p["n"], int) or len(f"{p['n']}"))

    assert codipy.value_and_grad(f)({"n": 3, "a": 0.5}) == (f({"n": 3.0, "a": 0.5}), {"n": 0.5, "a": 3.0})
    with pytest.raises(TypeError, match="a whole number among what is differentiated by"):
        codipy.grad(lambda p: sum(p["a"] for _ in range(p["n"])))({"n": 3, "a": 0.5})
    assert codipy.grad(lambda p, n: sum(p["a"] for _ in range(n)))({"a": 0.5}, n=3) == {"a": 3.0}


@pytest.mark.parametrize("ends_with_newton", [False, True])
def test_a_warm_start_is_a_constant(ends_with_newton):
    class Root:
        def __init__(self):
            self.z = np.ones(1)

        def __call__(self, x):
            while abs(self.z[0] ** 2 - x) > 1e-13:
                self.z -= (self.z**2 - x) / (2.0 * self.z)
            if ends_with_newton:
                self.z -= (self.z**2 - x) / (2.0 * self.z)
            return self.z[0]

    root = Root()
    assert codipy.grad(root)(2.0) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-9)
    assert codipy.grad(root)(2.0) == pytest.approx(0.5 / np.sqrt(2.0) if ends_with_newton else 0.0, rel=1e-9)


@pytest.mark.parametrize("x", [np.array([2.0, 3.0]), [2.0, 3.0], {0: 2.0, 1: 3.0}], ids=lambda x: type(x).__name__)
def test_what_is_differentiated_by_stays_as_it_is(x):
    def f(x):
        x[0] *= x[1]
        return x[0] * x[1]

    before = copy.deepcopy(x)
    gradient = codipy.grad(f)(x)
    assert [x[0], x[1], type(x)] == [before[0], before[1], type(before)]
    assert [gradient[0], gradient[1]] == [9.0, 12.0]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", RAISES)
def test_what_raises(name):
    f, error = RAISES[name]
    with pytest.raises(error):
        codipy.grad(lambda x: f(x) * x[1])(POINT)


def test_solvers_in_c():
    pytest.importorskip("scipy")
    from scipy import integrate, optimize

    with pytest.raises(ActiveError):
        codipy.grad(lambda x: integrate.ode(lambda t, y: -x[0] * y).set_initial_value([1.0]).integrate(1.0)[0])(POINT)
    with pytest.raises(UndifferentiableError):
        codipy.hessian(lambda x: integrate.odeint(lambda y, t: -x[0] * y, [1.0], [0.0, 1.0])[-1, 0])(POINT)

    class Model:
        def __init__(self, x):
            self.x = x

        def slope(self, y, t):
            return -self.x[0] * y

    with pytest.raises(ActiveError):
        codipy.grad(lambda x: integrate.odeint(Model(x).slope, [1.0], [0.0, 1.0])[-1, 0])(POINT)

    def constrained(x):
        return optimize.minimize(lambda v: np.sum((v - x[0]) ** 2), [9.0], constraints=[
            {"type": "ineq", "fun": lambda v: v - x[0]}]).x[0]  # fmt: skip

    with pytest.raises(ArithmeticError):
        codipy.grad(constrained)(POINT)


WORK = {
    "a number": lambda x: lambda k: x[0] * k,
    "an element": lambda x: lambda k: x[k],
    "an array": lambda x: lambda k: (x * k).sum(),
    "a function": lambda x: lambda k: np.sin(x)[k],
    "a primitive": lambda x: lambda k: np.linalg.norm(x) * k,
    "an expression": lambda x: (lambda y: lambda k: y[k])(x * x),
    "a write": lambda x: (lambda y: lambda k: y.__setitem__(k, 0.0) or 1.0)(x * x),
    "entries": lambda x: (lambda y: lambda k: y * 2.0)(np.append(x, x[0])),
}


@pytest.mark.parametrize("name", WORK)
def test_threads_inside_of_a_function_are_told_apart_from_a_forgotten_tape(name):
    def f(x):
        with ThreadPoolExecutor(2) as pool:
            return sum(np.sum(y) for y in pool.map(WORK[name](x), [0, 1]))

    assert np.isfinite(f(POINT.copy()))
    with pytest.raises(TapeError, match="another thread than the one that records"):
        codipy.grad(f)(POINT)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(2.0)
    with pytest.raises(TapeError, match="no tape is recording"):
        x * 2.0


def test_what_one_call_keeps():
    kept = {}

    def f(x):
        kept.setdefault("twice", x[0] * 2.0)
        return kept["twice"] * x[1]

    codipy.grad(f)(POINT)
    with pytest.raises(TapeError):
        codipy.grad(f)(POINT)


@functools.lru_cache
def cached_work(n):
    return np.ones(n)


RATE, SHARED = 1.0, np.zeros(2)


def test_what_a_cache_lacks_is_computed_for_each_gradient():
    def f(x):
        cached_work(2)[0] += 1.0
        return np.sum(cached_work(2) * x) + np.zeros(1)[0]

    cached_work.cache_clear()
    try:
        gradient = codipy.value_and_grad(f)
        assert gradient(POINT)[0] == gradient(POINT)[0] == f(POINT)      # the documented loss
    finally:
        cached_work.cache_clear()


def test_modules_that_a_library_sets_without_rebuilt_code_being_told(monkeypatch):
    def by_name(x):
        sys.modules[__name__].RATE = 2.0
        return RATE * np.zeros(1)[0] + RATE * x[0]

    def by_library(x):
        with mock.patch(f"{__name__}.RATE", 2.0):
            return RATE * np.zeros(1)[0] + RATE * x[0]

    def by_setattr(x):
        setattr(sys.modules[__name__], "RATE", 2.0)  # noqa: B010
        return RATE * np.zeros(1)[0] + RATE * x[0]

    for f, seen in ((by_name, 4.0), (by_library, 2.0), (by_setattr, 4.0)):
        monkeypatch.setattr(sys.modules[__name__], "RATE", 1.0)
        assert f(POINT) == 4.0
        monkeypatch.setattr(sys.modules[__name__], "RATE", 1.0)
        assert codipy.value_and_grad(f)(POINT)[0] == seen


def test_another_thread_reads_an_array_that_is_filled():
    read = []

    def with_value():
        read.append(codipy.value(SHARED).tolist())

    def without():
        try:
            read.append(SHARED[0] * 1.0)
        except TapeError as error:
            read.append(str(error))

    def f(x):
        SHARED[0] = x[0]
        thread = threading.Thread(target=looks[0])
        thread.start()
        thread.join()
        return SHARED[0] * x[1]

    looks = [with_value]
    np.testing.assert_array_equal(codipy.grad(f)(POINT), [3.0, 2.0])
    looks[0] = without
    codipy.grad(f)(POINT)
    assert read[0] == [2.0, 0.0] and "another thread" in read[1]
    assert type(SHARED) is np.ndarray and SHARED.tolist() == [2.0, 0.0]


def test_seeds_and_fractions_name_what_to_write():
    with pytest.raises(ActiveError, match=r"random\.seed\(codipy\.value\(x\)\)"):
        codipy.grad(lambda x: (random.seed(x[0]), x[0])[1])(POINT)
    with pytest.raises(ActiveError, match="the number itself for a Fraction of it"):
        codipy.grad(lambda x: float(fractions.Fraction(x[0])))(POINT)


def test_what_a_function_keeps_while_a_solver_calls_it():
    optimize = pytest.importorskip("scipy.optimize")

    def f(x, at):
        kept = []

        def residual(u):
            kept.append(x[0] * u)
            return u**3 - x[0]

        root = optimize.brentq(residual, 0.1, 3.0)
        return root * len(kept) if at is None else kept[at] * 1.0

    value, gradient = codipy.value_and_grad(f)(POINT, None)
    assert value == f(POINT, None)
    np.testing.assert_allclose(gradient[0], value / (3.0 * POINT[0]), rtol=1e-9)
    np.testing.assert_allclose(codipy.grad(f)(POINT, -1)[0], 4.0 / 3.0 * POINT[0] ** (1.0 / 3.0), rtol=1e-9)
    with pytest.raises(TapeError, match="call that function once more"):
        codipy.grad(f)(POINT, 0)


def test_what_a_callback_keeps():
    optimize = pytest.importorskip("scipy.optimize")

    def f(x):
        kept = []
        optimize.minimize(lambda u: np.sum((u - x) ** 2), np.zeros(2), callback=lambda u: kept.append(u.copy()))
        return np.sum(kept[-1])

    with pytest.raises(TapeError, match="take what the solver returns"):
        codipy.grad(f)(POINT)


TWICE = np.vectorize(lambda v: 2.0 * v)
KEYS = {TWICE: 2.0}


def test_functions_of_scipy_as_keys():
    linalg, special = pytest.importorskip("scipy.linalg"), pytest.importorskip("scipy.special")
    table, held = {linalg.solve: 2.0, special.erf: 3.0, "solve": 5.0}, types.SimpleNamespace(all=(linalg.solve,))

    def found(x):
        return x * (linalg.solve in table) + 10.0 * x * (TWICE in KEYS) + 100.0 * x * (
            held.all[0] is linalg.solve) + 1000.0 * x * table[special.erf] + 10000.0 * x * table["solve"]

    assert found(1.0) == 53111.0
    assert codipy.grad(found)(1.0) == 53000.0
    with pytest.raises(KeyError):
        codipy.grad(lambda x: x * table[linalg.solve])(1.0)
