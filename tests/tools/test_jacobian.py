# SPDX-License-Identifier: Apache-2.0
"""jacobian: shapes and forms, forwards and backwards, in sweeps of several directions."""
import importlib
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
from tests.strategies import VARIANTS

module, runs = map(importlib.import_module, ("codipy.tools.runs.columns", "codipy.tools.runs.run"))
X = np.array([1.0, -2.0, 3.0])


@dataclass
class State:
    u: np.ndarray
    t: float


def cubes(x):
    return x * x * x


@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
def test_every_setting_gives_the_jacobian(strategy, granularity):
    options = {"strategy": strategy, "granularity": granularity}
    assert codipy.jacobian(cubes, **options)(X).tolist() == np.diag(3.0 * X * X).tolist()
    assert codipy.jacobian(lambda x: x[:1] * x[1:], **options)(X).tolist() == [[-2.0, 1.0, 0.0], [3.0, 0.0, 1.0]]
    assert codipy.jacobian(lambda x: x[[0, 0, 1, 2]], **options)(X).tolist() == np.eye(3)[[0, 0, 1, 2]].tolist()
    assert codipy.jacobian(lambda x: [a * b for a in x for b in x], **options)([2.0, 3.0]) == [
        [4.0, 0.0], [3.0, 2.0], [3.0, 2.0], [0.0, 6.0]]
    many = np.linspace(0.5, 1.0, 40)
    expected = np.hstack([np.diag(many[20:]), np.diag(many[:20])])
    assert (codipy.jacobian(lambda x: x[:20] * x[20:], **options)(many) == expected).all()
    wide = codipy.jacobian(lambda x: [a * b for a in x for b in x], **options)(many[:20].tolist())
    assert len(wide) == 400 and wide[21] == [0.0] + [2.0 * many[1]] + [0.0] * 18


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0,), (1, 3, 2)])
@pytest.mark.parametrize("out", [(), (2,), (3, 1), (0, 2), (40,)])
def test_the_shape_is_that_of_the_result_and_then_that_of_the_argument(shape, out):
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) if shape else 2.0
    matrix = np.random.default_rng(0).standard_normal((*out, *shape))

    def linear(v):
        numbers = [v[index] for index in np.ndindex(shape)] if shape else [v]
        rows = matrix.reshape((int(np.prod(out)), len(numbers)))
        sums = [sum((w * number for w, number in zip(row, numbers)), start=0.0) for row in rows]
        return np.array(sums, object).reshape(out) if out else sums[0]

    found = codipy.jacobian(linear)(x)
    assert np.shape(found) == (*out, *shape)
    assert type(found) is (np.ndarray if out or shape else float)
    assert found == pytest.approx(matrix)


def test_forms_in_and_out():
    def f(p, other, t):
        assert other == "other"
        return {"product": p.u * t, "sum": [p.u[0] + p.t, 5.0]}

    by = codipy.jacobian(f, (2, 0))(State(X, 4.0), "other", 2.0)
    by_t, by_p = by["product"]
    assert by_t.tolist() == X.tolist() and type(by_p) is State
    assert by_p.u.tolist() == (2.0 * np.eye(3)).tolist() and by_p.t.tolist() == [0.0, 0.0, 0.0]
    by_t, by_p = by["sum"][0]
    assert by_t == 0.0 and by_p.u.tolist() == [1.0, 0.0, 0.0] and by_p.t == 1.0 and type(by_p.t) is float
    assert by["sum"][1][1].u.tolist() == [0.0, 0.0, 0.0] and type(by["sum"]) is list
    assert codipy.jacobian(f)(State(X, 4.0), "other", t=2.0)["sum"][0].t == 1.0


def test_the_way_with_fewer_directions_is_taken_and_sweeps_are_shared(monkeypatch):
    sweeps = []

    class Counting(codipy.Tape):
        def evaluate(self, **options):
            sweeps.append(("reverse", options["adjoints"].width))
            super().evaluate(**options)

        def evaluate_forward(self, **options):
            sweeps.append(("forward", options["adjoints"].width))
            super().evaluate_forward(**options)

    monkeypatch.setattr(runs, "borrow", lambda settings: Counting(*settings))
    monkeypatch.setattr(runs, "give_back", lambda settings, tape: None)
    many = np.linspace(0.0, 1.0, 40)
    driver = codipy.jacobian(lambda x: x[:20] * x[20:])
    expected = np.hstack([np.diag(many[20:]), np.diag(many[:20])])
    assert (driver(many) == expected).all()
    assert sweeps == [("reverse", 20)]
    sweeps.clear()
    monkeypatch.setattr(module, "_NEAR", 1)
    assert (driver(many) == expected).all()
    assert sweeps == [("reverse", 16), ("reverse", 16)]
    sweeps.clear()
    assert (codipy.jacobian(lambda x: x[[0, 0, 1, 1, 2]] * 2.0)(X) == 2.0 * np.eye(3)[[0, 0, 1, 1, 2]]).all()
    assert sweeps == [("forward", 3)]
    sweeps.clear()
    monkeypatch.setattr(module, "BYTES", 1)
    assert (driver(many) == expected).all()
    assert sweeps == [("reverse", 1)] * 20


def test_one_run_whatever_the_size():
    runs = []

    def f(x):
        runs.append(x)
        return x * 2.0

    assert codipy.jacobian(f)(np.ones(50)).shape == (50, 50)
    assert len(runs) == 1 and codipy.active_tape() is None


def test_nan_stays_where_it_is():
    matrix = codipy.jacobian(cubes)(np.array([1.0, np.nan, 2.0]))
    assert matrix[0].tolist() == [3.0, 0.0, 0.0] and np.isnan(matrix[1, 1]) and np.isnan(matrix).sum() == 1


def test_aux_constants_and_errors():
    matrix, aux = codipy.jacobian(lambda x: (x * 2.0, "aux"), has_aux=True)(X)
    assert aux == "aux" and (matrix == 2.0 * np.eye(3)).all()
    assert codipy.jacobian(lambda x: np.arange(2))(X).tolist() == [[0.0] * 3] * 2
    with pytest.raises(TypeError, match=r"say jacobian\(f\)\(x\)"):
        codipy.jacobian(X)
    with pytest.raises(ValueError, match="granularity"):
        codipy.jacobian(cubes, granularity="loop")
    with pytest.raises(TypeError, match="cubes got 1 positional arguments, but argnums is 1"):
        codipy.jacobian(cubes, 1)(X)
    assert codipy.jacobian(cubes).__name__ == "cubes" and "by argument 0" in codipy.jacobian(cubes).__doc__
