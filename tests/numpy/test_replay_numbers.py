# SPDX-License-Identifier: Apache-2.0
"""`evaluate_primal` on arrays without dimensions and on elements: NumPy's bits, of every ufunc and every reduction."""

import numpy as np
import pytest

import codipy
from codipy.numpy.ufuncs import MORE, TABLE_NAMES
from tests.strategies import AS_VALUES, VARIANTS

OF_VALUES = [variant for variant in VARIANTS if variant[0] in AS_VALUES]
UFUNCS = sorted({ufunc.__name__ for ufunc in TABLE_NAMES} | set(MORE) - {"clip"})
REDUCTIONS = [
    "sum", "prod", "max", "min", "mean", "std", "var", "median", "ptp", "linalg.norm", "nansum", "nanmax", "average",
    "cumsum", "cumprod", "ravel", "trace", "sort"
]  # fmt: skip
COUNT = 40
STEPPED = ("divmod", "frexp")  # whose second result is a whole number


def arguments_of(name, rng):
    low = 1.05 if name == "arccosh" else 0.05
    given = [rng.uniform(low, low + 0.9) for _ in range(getattr(np, name).nin)]
    return [given[0], 2] if name == "ldexp" else given


def active_part(results):
    """Of one or two results the one that has a derivative."""
    parts = results if isinstance(results, tuple) else (results,)
    return next((k for k, y in enumerate(parts) if getattr(y, "is_active", False)), None), parts


def replayed(f, variant, points, dtype, elements):
    """What f gives at the first point on a tape, replayed at the others, and what it gives there: pairs."""
    tape = codipy.Tape(*variant, chunk_size=4)
    made = [x if isinstance(x, int) else dtype(x) for x in points[0]]
    with tape, np.errstate(all="ignore"):
        arrays = [x if isinstance(x, int) else np.array([x]) if elements else np.array(x) for x in made]
        inputs = [x if isinstance(x, int) else tape.register_input(x) for x in arrays]
        used = [x if isinstance(x, int) or not elements else x[0] for x in inputs]
        place, parts = active_part(f(*used))
        if place is None:
            return
        y = tape.register_output(parts[place])
    for point in points:
        plain = [x if isinstance(x, int) else dtype(x) for x in point]
        for x, new in zip(inputs, plain):
            if not isinstance(x, int):
                tape.set_primal(x, np.array([new]) if elements else new)
        tape.evaluate_primal()
        expected = f(*plain)
        yield tape.get_primal(y), expected[place] if isinstance(expected, tuple) else expected


def same(found, expected):
    return np.asarray(found, np.float64).tobytes() == np.asarray(expected, np.float64).tobytes()


@pytest.mark.parametrize("elements", [False, True], ids=["arrays", "elements"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs(name, dtype, elements):
    if dtype is np.float32 and name in ("float_power", "frexp", "logaddexp2", "modf", "nextafter"):
        pytest.skip("evaluate_primal() refuses primitives of float32 values")
    if name in STEPPED and not elements:
        pytest.skip("evaluate_primal() refuses another whole number, as of arrays with axes")
    rng = np.random.default_rng(len(name))
    points = [arguments_of(name, rng) for _ in range(COUNT)]
    for variant in OF_VALUES:
        pairs = list(replayed(getattr(np, name), variant, points, dtype, elements))
        assert len(pairs) == COUNT or name == "heaviside"
        wrong = [pair for pair in pairs if not same(*pair)]
        assert not wrong, (variant, wrong[:3])


@pytest.mark.parametrize("name", UFUNCS)
def test_inside_of_an_expression(name):
    """Operators round the ufunc: one statement of several operations, C's and NumPy's."""
    ufunc, rng = getattr(np, name), np.random.default_rng(3)
    points = [arguments_of(name, rng) for _ in range(COUNT)]

    def f(*args):
        found = ufunc(*args)
        found = (found[1] if name == "divmod" else found[0]) if isinstance(found, tuple) else found
        return np.tanh(found * 0.5 + 0.25) - found

    for variant in OF_VALUES:
        wrong = [pair for pair in replayed(f, variant, points, np.float64, name in STEPPED) if not same(*pair)]
        assert not wrong, (variant, wrong[:3])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    function = np
    for part in name.split("."):
        function = getattr(function, part)
    points = [[x] for x in np.random.default_rng(1).uniform(0.05, 0.95, 5)]
    for variant in OF_VALUES:
        for f in (lambda x: function(x + np.zeros(())), lambda x: function(np.exp(x) * np.ones((2, 2)))):
            try:
                f(np.float64(0.5))
            except ValueError:  # NumPy wants dimensions
                continue
            for found, expected in replayed(f, variant, points, np.float64, False):
                assert same(found, expected), (variant, name, found, expected)


@pytest.mark.parametrize("variant", OF_VALUES, ids=map("-".join, OF_VALUES))
def test_gradients_of_a_replay(variant):
    tape = codipy.Tape(*variant, chunk_size=4)
    with tape:
        x = tape.register_input(np.array(0.3))
        y = tape.register_output(np.tanh(x) * np.exp(np.sin(x)) + np.cbrt(x))
    tape.set_primal(x, 0.7)
    tape.evaluate_primal()
    y.gradient = 1.0
    tape.evaluate()
    t, e = np.tanh(0.7), np.exp(np.sin(0.7))
    expected = (1 - t * t) * e + t * e * np.cos(0.7) + np.cbrt(0.7) / 0.7 / 3
    assert x.gradient == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", ["expit", "erf", "ndtr", "gammaln"])
def test_special_functions(name):
    special = pytest.importorskip("scipy.special")
    points = [[x] for x in np.random.default_rng(2).uniform(0.05, 0.95, COUNT)]
    for variant in OF_VALUES:
        pairs = replayed(getattr(special, name), variant, points, np.float64, False)
        wrong = [pair for pair in pairs if not same(*pair)]
        assert not wrong, (variant, wrong[:3])
