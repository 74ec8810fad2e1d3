# SPDX-License-Identifier: Apache-2.0
"""codipy.numpy is NumPy, but for what is allocated while a tape records; codipy.scipy is SciPy."""

import builtins
import pkgutil
import subprocess
import sys

import numpy
import pytest

import codipy
import codipy.numpy as np
import codipy.scipy
from codipy.active.array import Array
from codipy.numpy.namespace import LATER, OWN
from codipy.numpy.standins import STANDINS, isinstance_

FLOAT, TYPE = STANDINS[float], STANDINS[type]
CREATED = {
    "zeros": lambda np: np.zeros(3),
    "zeros of a dtype": lambda np: np.zeros((2, 3), dtype=float),
    "ones": lambda np: np.ones((2, 2), "f8"),
    "empty": lambda np: np.empty((0, 3)),
    "eye": lambda np: np.eye(3, 4, 1),
    "identity": lambda np: np.identity(2),
    "tri": lambda np: np.tri(3),
    "full": lambda np: np.full((2, 2), 1.5),
    "full of a list": lambda np: np.full((2, 2), [1.0, 2.0]),
    "zeros_like": lambda np: np.zeros_like(numpy.ones(3)),
    "full_like": lambda np: np.full_like(numpy.ones(3), 2),
    "array": lambda np: np.array([[1.0, 2.0], [3.0, 4.0]]),
    "array of an ndarray": lambda np: np.array(numpy.ones(2)),
    "array ndmin": lambda np: np.array([1.0, 2.0], ndmin=3),
    "asarray": lambda np: np.asarray([1.0, 2.0]),
    "asarray that converts": lambda np: np.asarray(numpy.arange(3), dtype=float),
    "asanyarray": lambda np: np.asanyarray((1.0, 2.0)),
    "ascontiguousarray": lambda np: np.ascontiguousarray([1.0]),
    "asarray_chkfinite": lambda np: np.asarray_chkfinite([1.0]),
    "linspace": lambda np: np.linspace(0.0, 0.7, 11),
    "logspace": lambda np: np.logspace(0.0, 0.7, 11),
    "geomspace": lambda np: np.geomspace(1.0, 7.0, 11),
    "arange": lambda np: np.arange(0.1, 0.7, 0.05),
    "copy": lambda np: np.copy(numpy.ones(3)),
    "fromiter": lambda np: np.fromiter((0.5 * k for k in range(4)), float),
    "fromiter count": lambda np: np.fromiter((0.5 * k for k in range(4)), float, 2),
    "ndarray": lambda np: np.ndarray((0,)),
}
PLAIN = {
    "ints": lambda np: np.zeros(3, int),
    "flags": lambda np: np.ones(3, dtype=bool),
    "objects": lambda np: np.full(2, None),
    "text": lambda np: np.array(["a", "b"]),
    "arange of ints": lambda np: np.arange(3),
    "array of ints": lambda np: np.array([1, 2]),
    "fields": lambda np: np.zeros(2, [("x", float)]),
}


@pytest.fixture
def tape():
    with codipy.Tape() as tape:
        yield tape


def same(a, b):
    assert numpy.asarray(a).dtype == b.dtype and numpy.asarray(a).shape == b.shape
    assert numpy.asarray(a).tobytes() == b.tobytes()


def test_numpy_is_passed_on_by_the_same_objects():
    assert np.sin == numpy.sin and np.char is numpy.char and np.random.PCG64 is numpy.random.PCG64 and np.ma is numpy.ma
    assert np.linalg.LinAlgError is numpy.linalg.LinAlgError and np.linalg.multi_dot is numpy.linalg.multi_dot
    assert set(dir(np.linalg)) == set(dir(numpy.linalg)) and np.linalg.__name__ == "numpy.linalg"
    assert np.pi == numpy.pi and np.__version__ == numpy.__version__
    ours = {name for name in dir(numpy) if not name.startswith("_") and getattr(np, name) is not getattr(numpy, name)}
    assert {*OWN, "random"} <= ours <= {*OWN, *LATER}
    assert set(dir(numpy)) - set(dir(np)) == set()
    with pytest.raises(AttributeError, match="no_such_name"):
        np.no_such_name


def test_star_import_gives_our_functions():
    names = {}
    exec("from codipy.numpy import *", names)
    assert names["zeros"] is np.zeros and names["sin"] is np.sin
    assert {"float64", "ndarray", "pi", "linalg", "newaxis", "einsum"} <= set(names)


def test_scipy_is_imported_when_it_is_asked_for():
    pytest.importorskip("scipy")
    code = (
        "import sys, codipy, codipy.scipy as scipy\n"
        "assert 'scipy' not in sys.modules\n"
        "special = scipy.special\n"
        "import scipy.special as original\n"
        "assert special.erf == original.erf\n"
        "assert special.SpecialFunctionWarning is original.SpecialFunctionWarning and 'linalg' in dir(scipy)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError):
        codipy.scipy.no_such_name


@pytest.mark.parametrize("case", CREATED)
def test_creation_gives_ndarrays_outside_and_arrays_while_recording(case):
    make = CREATED[case]
    expected = make(numpy)
    assert type(make(np)) is numpy.ndarray
    same(make(np), expected)
    with codipy.Tape():
        made = make(np)
        assert type(made) is Array and not made.is_active
        same(made.value, expected)
        with codipy.passive():
            assert type(make(np)) is numpy.ndarray
    assert type(make(np)) is numpy.ndarray


@pytest.mark.parametrize("case", PLAIN)
def test_what_has_no_derivative_stays_an_ndarray(case, tape):
    assert type(PLAIN[case](np)) is numpy.ndarray
    assert PLAIN[case](np).tolist() == PLAIN[case](numpy).tolist()


def test_other_threads_do_not_record(tape):
    import threading

    found = []
    thread = threading.Thread(target=lambda: found.append(type(np.zeros(2))))
    thread.start()
    thread.join()
    assert found == [numpy.ndarray] and type(np.zeros(2)) is Array


def test_asarray_lends_what_it_is_given(tape):
    lent = numpy.zeros(3)
    for function in (np.asarray, np.asanyarray, np.ascontiguousarray, np.require):
        assert function(lent) is lent
    assert np.array(lent, copy=None) is lent and np.array(lent, copy=False) is lent
    assert type(np.asarray(memoryview(lent))) is numpy.ndarray  # shares its data
    array = np.zeros(3)
    assert np.asarray(array) is array and np.asarray(array, dtype=float) is array and np.array(array) is not array
    with pytest.raises(ValueError):
        np.array([1.0], copy=False)
    modes = numpy._CopyMode
    assert np.array(array, copy=modes.IF_NEEDED) is array and np.array(array, copy=modes.ALWAYS) is not array


def test_require_copies_what_does_not_own_its_data():
    def f(x):
        y = 2.0 * x
        kept, copied = np.require(y, requirements="O"), np.require(y[:], None, ["OWNDATA", "C"])
        kept[0] = 0.5
        copied[1] = 0.25
        return np.concatenate([y.ravel(), np.require(x.T, float, "FO").ravel("K"), copied.ravel()])

    x = numpy.arange(6.0).reshape(3, 2)
    value, pullback = codipy.vjp(f, x)
    assert value.tobytes() == f(x.copy()).tobytes()
    assert numpy.array_equal(pullback(numpy.ones(value.shape))[0], [[3.0, 3.0], [3.0, 3.0], [5.0, 5.0]])


def gradient(build, x):
    """Value and derivative of the sum of squares of what `build` makes of an active x, and the plain values."""
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(codipy.Real(x))
        array = build(np, x)
        assert type(array) is Array
        total = 0.0
        for row in array.reshape(-1):
            total = total + row * row
        total = tape.register_output(total)
    total.gradient = 1.0
    tape.evaluate()
    return array.value, x.gradient


BUILT = {
    "array": lambda np, x: np.array([x, 1.0, 2.0 * x]),
    "array nested": lambda np, x: np.array([[x, 1.0], (2.0, x * x)]),
    "array of arrays": lambda np, x: np.array([np.array([x, 1.0]), np.zeros(2)]),
    "array of objects": lambda np, x: np.array(numpy.array([x, 1.0], dtype=object), dtype=float),
    "asarray": lambda np, x: np.asarray([x, 3], dtype=np.float64),
    "fill": lambda np, x: fill(np, x),
    "full": lambda np, x: np.full((2, 3), x),
    "full of a list": lambda np, x: np.full((2, 2), [x, 1.0]),
    "full_like": lambda np, x: np.full_like(numpy.ones(3), x),
    "fromiter": lambda np, x: np.fromiter((x * k for k in range(3)), float),
    "linspace": lambda np, x: np.linspace(0.1, x, 7),
    "linspace open": lambda np, x: np.linspace(x, 0.3, 7, endpoint=False),
    "linspace of one": lambda np, x: np.linspace(x, 0.3, 1),
    "arange from": lambda np, x: np.arange(x, 3.0, 0.3),
    "arange by": lambda np, x: np.arange(0.0, 3.0, x),
    "arange by, without a beginning": lambda np, x: np.arange(x, None, x * 0.3),
    "arange by nothing": lambda np, x: np.arange(x, 4.0, None),
    "copy": lambda np, x: np.copy([x, x]),
}


def fill(np, x):
    z = np.empty((2, 2), dtype=float)
    z[...] = 1.0
    z[0, 1] = x * x
    return z


@pytest.mark.parametrize("case", BUILT)
def test_arrays_of_active_values(case):
    build, x = BUILT[case], 1.7
    value, slope = gradient(build, x)
    same(value, build(numpy, x))
    h = 1e-6
    above, below = ((build(numpy, x + d) ** 2).sum() for d in (h, -h))
    assert slope == pytest.approx((above - below) / (2 * h), rel=1e-6, abs=1e-8)


def test_an_active_end_says_only_how_many(tape):
    x = tape.register_input(codipy.Real(1.7))
    made = np.arange(0.1, x, 0.3)
    assert type(made) is Array and not made.is_active
    same(made.value, numpy.arange(0.1, 1.7, 0.3))
    alone = np.arange(x, None)
    assert not alone.is_active and alone.tolist() == [0.0, 1.0]
    assert np.arange(codipy.Real(3.0)).size == 3 and np.arange(0, 1, x).tolist() == [0]


def test_conversions_that_lose_a_derivative(tape):
    x = tape.register_input(codipy.Real(1.7))
    assert np.array([x, 1.0], dtype=int).tolist() == [1, 1] and np.full(2, x, dtype=int).tolist() == [1, 1]
    with pytest.raises(TypeError):
        np.array([x, x * 1.0j], dtype=float)
    with pytest.raises(TypeError):
        numpy.zeros(2)[0] = x
    kept = np.array([x, None], dtype=object)
    assert kept.dtype == object and kept[0] is x


def test_stand_ins_are_types_for_numpy():
    for standin in (FLOAT, np.float64):
        assert numpy.dtype(standin) == numpy.float64 and numpy.dtype(float) == standin
        assert numpy.zeros(2, standin).dtype == float and numpy.arange(3).astype(standin).dtype == float
        assert numpy.asarray([1], dtype=standin).dtype == float and numpy.add(1, 2, dtype=standin) == 3.0
        assert numpy.issubdtype(numpy.float64, standin) and not numpy.issubdtype(numpy.int64, standin)
        assert numpy.issubdtype(standin, numpy.floating) and numpy.finfo(standin).eps == numpy.finfo(float).eps
        assert numpy.result_type(standin, numpy.int32) == float and numpy.can_cast(numpy.int32, standin)  # noqa: E721
        assert numpy.dtype([("x", standin)]).fields["x"][0] == numpy.dtype(float)
        assert np.zeros(2, dtype=standin).dtype == float


def test_stand_ins_are_types_for_python(tape):
    x, a = tape.register_input(codipy.Real(1.5)), np.zeros(2)
    assert FLOAT("1.5") == 1.5 and type(FLOAT(2)) is float and FLOAT() == 0.0 and FLOAT.fromhex("0x1p3") == 8.0
    assert FLOAT(x) is x and type(np.float64(x).value) is numpy.float64 and type(np.float64(2)) is numpy.float64
    assert type(FLOAT(np.array([x])[0])) is codipy.Real
    for bad in ([], "no number"):
        with pytest.raises((TypeError, ValueError)):
            FLOAT(bad)
    assert isinstance(1.0, FLOAT) and isinstance(x, FLOAT) and not isinstance(1, FLOAT) and not isinstance(a, FLOAT)
    assert isinstance(a, np.ndarray) and isinstance(numpy.zeros(1), np.ndarray) and not isinstance(x, np.ndarray)
    for value in (1.0, x, a, numpy.zeros(1)):
        assert isinstance(value, FLOAT | np.ndarray) and isinstance(value, (FLOAT, np.ndarray))
    assert not isinstance("text", FLOAT | np.ndarray | None) and isinstance(None, FLOAT | None)
    assert issubclass(numpy.ma.MaskedArray, np.ndarray) and issubclass(np.ndarray, numpy.ndarray)
    assert issubclass(numpy.float64, FLOAT) and issubclass(bool, int) and not issubclass(int, FLOAT)
    assert FLOAT == float and float == FLOAT and float != np.float64 and FLOAT != int and FLOAT in (int, float)  # noqa: E721
    assert {float: 1}[FLOAT] == 1 and {np.ndarray: 2}[numpy.ndarray] == 2
    assert repr(FLOAT) == "<class 'float'>" and np.ndarray.__name__ == "ndarray"
    assert TYPE(x) is FLOAT and TYPE(1.0) is FLOAT and TYPE(a) is np.ndarray and TYPE(1) is int
    assert TYPE("A", (), {"k": 1}).k == 1 and isinstance(int, TYPE) and type[int] == TYPE[int]


def test_isinstance_takes_active_values_for_what_they_stand_for(tape):
    x, a = tape.register_input(codipy.Real(1.5)), np.zeros(2)
    numbers = (int, float)  # made where `float` is Python's
    assert isinstance_(x, numbers) and isinstance_(x, int | float) and not isinstance_(x, int)
    assert isinstance_(a, numpy.ndarray) and isinstance_(a, (list, numpy.ndarray)) and not isinstance_(a, list)
    assert isinstance_(x, codipy.Real) and isinstance_(a, Array) and not isinstance_(1, float)
    with pytest.raises(TypeError):
        isinstance_(x, 3)


def test_classes_derived_from_a_stand_in_are_ordinary():
    class Length(FLOAT):
        pass

    class Grid(np.ndarray):
        pass

    class Meta(TYPE):
        def __call__(cls, *args):
            return (*super().__call__(*args).args, "made")

    class Made(metaclass=Meta):
        def __init__(self, *args):
            self.args = args

    assert type(Length(2.0)) is Length and not isinstance(2.0, Length) and isinstance(Length(1.0), FLOAT)
    assert type(Grid((2,))) is Grid and not isinstance(numpy.zeros(1), Grid)
    assert isinstance(numpy.zeros(2).view(np.ndarray), numpy.ndarray)
    assert Made(1, 2) == (1, 2, "made")


def test_nothing_of_python_was_changed():
    assert builtins.float is float and (1.0).__class__ is float and numpy.zeros is not np.zeros
    assert not isinstance(codipy.Real(1.0), float)


def test_no_file_of_the_package_hides_a_name_of_numpy():
    """The import system sets a submodule as an attribute of its package, where `numpy.pad` would be a module."""
    files = [module.name for module in pkgutil.iter_modules(np.__path__)]
    assert len(files) > 3 and [name for name in files if hasattr(numpy, name)] == []


def test_a_dtype_is_the_class_that_stands_for_it():
    def f(x):
        names = x.dtype == np.float64, np.float64 == x.dtype, x.dtype in (np.float64, np.complex128), x.dtype == "int"
        assert names == (True, True, True, False)
        return np.sum(x)

    f(np.ones(2))
    codipy.grad(f)(np.ones(2))
