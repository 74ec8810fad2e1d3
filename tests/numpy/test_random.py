# SPDX-License-Identifier: Apache-2.0
"""Random numbers of active parameters: NumPy's bits and as many of them, slopes of the same source on plain NumPy."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import codipy
import codipy.numpy
from codipy.errors import ActiveError
from tests.strategies import VARIANTS

POINT = np.array([0.7, 1.9])
KINDS = {
    "default_rng": lambda: np.random.default_rng(7),
    "Generator": lambda: np.random.Generator(np.random.MT19937(7)),
    "RandomState": lambda: np.random.RandomState(7),
}


def slopes(f, x, step=1e-6):
    return np.array([(f(x + h) - f(x - h)) / (2 * step) for h in np.eye(x.size) * step])


def agrees(f, x=POINT):
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, slopes(f, x), rtol=1e-6, atol=1e-7)


def weighted(a):
    return np.sum(a * np.cos(np.arange(a.size)).reshape(a.shape))


PATHWISE = {
    "normal of numbers": lambda rng, x: rng.normal(x[0], x[1]),
    "normal, a size": lambda rng, x: weighted(rng.normal(x[0], x[1], 5)),
    "normal, a shape": lambda rng, x: weighted(rng.normal(x[0], scale=x[1], size=(2, 3))),
    "normal of an array": lambda rng, x: weighted(rng.normal(x, 1.5)),
    "normal of a list": lambda rng, x: weighted(rng.normal([x[0], 2.0], [1, x[1]])),
    "normal, broadcast": lambda rng, x: weighted(rng.normal(x, np.ones((3, 1)))),
    "normal, broadcast to a size": lambda rng, x: weighted(rng.normal(x, x[1], (3, 2))),
    "normal of whole numbers beside": lambda rng, x: weighted(rng.normal(x, np.array([1, 2]))),
    "uniform of numbers": lambda rng, x: rng.uniform(x[0], x[1]),
    "uniform, one bound": lambda rng, x: weighted(rng.uniform(high=x[1], size=4)),
    "uniform of arrays": lambda rng, x: weighted(rng.uniform(x - 1.0, x + x[0])),
    "exponential": lambda rng, x: weighted(rng.exponential(x, (4, 2))),
    "exponential of a number": lambda rng, x: rng.exponential(x[0]),
    "lognormal": lambda rng, x: weighted(rng.lognormal(x, x[0], (4, 2))),
    "lognormal of numbers": lambda rng, x: rng.lognormal(x[0], x[1]),
}
MOVED = {
    "shuffle": lambda rng, x: in_place(rng, np.outer(np.arange(5.0), x)),
    "shuffle of one axis": lambda rng, x: in_place(rng, x * np.arange(5.0)[:, None][:, 0][:, None] @ np.ones((2, 1))),
    "shuffle of what is passive yet": lambda rng, x: written_later(rng, x),
    "shuffle of a view": lambda rng, x: shuffled_view(rng, x),
    "shuffle of a list": lambda rng, x: weighted(np.array(in_list(rng, [k * x[0] for k in range(5)]))),
    "permutation": lambda rng, x: weighted(rng.permutation(np.outer(np.arange(5.0), x))),
    "permutation of one axis": lambda rng, x: weighted(rng.permutation(x[0] * np.arange(5.0))),
    "permutation of a list": lambda rng, x: weighted(rng.permutation([x[0], x[1], 2.0])),
    "choice": lambda rng, x: weighted(rng.choice(x, 6)),
    "choice of one": lambda rng, x: rng.choice(x),
    "choice without replacement": lambda rng, x: weighted(rng.choice(x[0] * np.arange(6.0), (2, 2), replace=False)),
    "choice with chances": lambda rng, x: weighted(rng.choice(x, 6, p=[0.25, 0.75])),
}
OF_AXES = {
    "shuffle": lambda rng, x: in_place(rng, np.outer(x, np.arange(5.0)), axis=1),
    "permutation": lambda rng, x: weighted(rng.permutation(np.outer(x, np.arange(5.0)), axis=1)),
    "permuted": lambda rng, x: weighted(rng.permuted(np.outer(x, np.arange(5.0)))),
    "permuted along an axis": lambda rng, x: weighted(rng.permuted(np.outer(x, np.arange(5.0)), axis=1)),
    "permuted into": lambda rng, x: permuted_into(rng, x),
    "choice of rows": lambda rng, x: weighted(rng.choice(np.outer(np.arange(5.0), x), 3)),
    "choice of columns": lambda rng, x: weighted(rng.choice(np.outer(x, np.arange(5.0)), 3, axis=1, shuffle=False)),
    "children": lambda rng, x: sum(child.normal(x[0], x[1]) for child in rng.spawn(2)),
}


def in_place(rng, a, **kwargs):
    assert rng.shuffle(a, **kwargs) is None
    return weighted(a)


def in_list(rng, items):
    rng.shuffle(items)
    return items


def written_later(rng, x):
    a = np.zeros((6, 2))
    a[:] = np.arange(12.0).reshape(6, 2)
    rng.shuffle(a)
    return np.sum(a[:, 0] * np.arange(6.0)) * x[0] + weighted(a) * x[1]


def shuffled_view(rng, x):
    a = np.outer(x, np.arange(8.0))
    rng.shuffle(a[:, ::2].T)
    return weighted(a)


def permuted_into(rng, x):
    a, out = np.outer(x, np.arange(5.0)), np.zeros((2, 5))
    assert rng.permuted(a, axis=0, out=out) is out
    return weighted(out)


CASES = {
    **{f"{kind}: {name}": (KINDS[kind], f) for kind in KINDS for name, f in (PATHWISE | MOVED).items()},
    **{f"{kind}: {name} by axis": (KINDS[kind], f) for kind in list(KINDS)[:2] for name, f in OF_AXES.items()},
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_numpys_and_slopes_are_those_of_the_source(name):
    make, f = CASES[name]
    agrees(lambda x: f(make(), x))


@pytest.mark.parametrize("name", CASES)
def test_as_many_bits_are_drawn(name):
    make, f = CASES[name]

    def program(x):
        rng = make()
        return f(rng, x) * 0.0 + rng.random()

    assert codipy.value_and_grad(program)(POINT)[0] == program(POINT)


@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
@pytest.mark.parametrize("name", ["default_rng: shuffle", "RandomState: permutation", "default_rng: lognormal"])
def test_every_strategy(name, strategy, granularity):
    make, f = CASES[name]
    gradient = codipy.grad(lambda x: f(make(), x), strategy=strategy, granularity=granularity)(POINT)
    np.testing.assert_allclose(gradient, slopes(lambda x: f(make(), x), POINT), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential", "lognormal"])
def test_bits_of_many_draws(name):
    parameters = [POINT[0]] if name == "exponential" else list(POINT)
    for kind in KINDS.values():
        plain = getattr(kind(), name)(*parameters, 4000)

        def f(x, kind=kind):
            return getattr(kind(), name)(*(x[k] for k in range(len(parameters))), 4000)

        out, _ = codipy.vjp(f, POINT)
        np.testing.assert_array_equal(out, plain)


def with_seed(x):
    np.random.seed(11)
    a = np.random.normal(x[0], x[1], 4)
    np.random.shuffle(a)
    return weighted(a) + np.random.uniform(x[0], 3.0) + np.random.choice(x) + np.random.random()


def with_imports(x):
    from numpy.random import default_rng, seed, standard_normal, uniform

    seed(3)
    return uniform(x[0], x[1]) + x[0] * standard_normal() + default_rng(1).normal(x[0])


MODULE_RNG = np.random.default_rng(5)
MODULE_STATE = np.random.RandomState(5)


class Sampler:
    def __init__(self, rng):
        self.rng = rng

    def draw(self, x):
        return weighted(self.rng.normal(x, 1.0))


@pytest.mark.parametrize("f", [with_seed, with_imports])
def test_functions_of_numpys_own_generator(f):
    agrees(f)


def test_generators_from_elsewhere():
    MODULE_RNG.bit_generator.state = np.random.default_rng(5).bit_generator.state
    MODULE_STATE.seed(5)
    sampler = Sampler(np.random.default_rng(3))
    plain = MODULE_RNG.normal(*POINT) + MODULE_STATE.normal(*POINT)
    plain += sampler.draw(POINT)
    last = MODULE_RNG.random(), MODULE_STATE.normal(), sampler.rng.random()

    MODULE_RNG.bit_generator.state = np.random.default_rng(5).bit_generator.state
    MODULE_STATE.seed(5)
    sampler = Sampler(np.random.default_rng(3))

    def f(x, sampler, rng):
        assert isinstance(rng, np.random.Generator)
        return MODULE_RNG.normal(x[0], x[1]) + MODULE_STATE.normal(x[0], x[1]) + sampler.draw(x)

    value, gradient = codipy.value_and_grad(f)(POINT, sampler, np.random.default_rng(1))
    assert value == plain
    assert gradient[0] == pytest.approx(2.0 + 1.0)
    # what was drawn is gone for everybody, the second normal number that RandomState keeps too
    assert (MODULE_RNG.random(), MODULE_STATE.normal(), sampler.rng.random()) == last


def test_what_is_drawn_can_be_filled():
    def f(x):
        rng = np.random.default_rng(2)
        a = rng.normal(size=4)
        a[1] = x[0]
        b = np.zeros(3)
        assert rng.random(out=b) is b
        b[0] = x[1]
        return weighted(a) + weighted(b)

    agrees(f)


def test_libraries_get_plain_arrays():
    def f(x):
        rng = np.random.default_rng(2)
        drawn = stats.norm.rvs(size=3, random_state=rng)
        seen.append(drawn)
        return x[0] * np.sum(drawn) + x[1]

    stats, seen = pytest.importorskip("scipy.stats"), []
    agrees(f)
    assert {type(drawn) for drawn in seen} == {np.ndarray}


def test_copies_of_a_generator():
    def f(x):
        rng = np.random.default_rng(2)
        twin = copy.deepcopy(rng)
        read = pickle.loads(pickle.dumps(rng))
        assert type(read) is np.random.Generator
        return rng.normal(x[0]) + 2.0 * twin.normal(x[0]) + x[1] * read.normal()

    agrees(f)


REFUSED = {
    "gamma": "standard_gamma",
    "laplace": r"loc \+ scale \* rng.laplace",
    "weibull": r"standard_exponential",
    "poisson": "whole numbers",
    "beta": "rng.random",
    "multivariate_normal": "cholesky",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REFUSED)
def test_other_distributions_say_how_to_write_them(kind, name):
    make = KINDS[kind]

    def f(x):
        rng = make()
        args = (x, np.eye(2)) if name == "multivariate_normal" else (x[0],) if name == "poisson" else (x[0], x[1])
        return np.sum(getattr(rng, name)(*(args[:1] if name == "weibull" else args)))

    with pytest.raises(ActiveError, match=REFUSED[name]):
        codipy.grad(f)(POINT)


def test_chances_are_refused():
    with pytest.raises(ActiveError, match="chances"):
        codipy.grad(lambda x: np.random.default_rng(0).choice(3, p=x))(np.array([0.5, 0.2, 0.3]))
    with pytest.raises(ActiveError, match="chances"):
        codipy.grad(lambda x: np.random.default_rng(0).choice(x, p=x))(np.array([0.5, 0.2, 0.3]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, x: rng.normal(x[0], -x[1]),
        lambda rng, x: rng.exponential(-x),
        lambda rng, x: rng.normal(x, 1.0, 3),
        lambda rng, x: rng.uniform(x[0], np.inf),
        lambda rng, x: rng.normal(x, np.ones(3)),
    ],
)
def test_errors_are_numpys(kind, draw):
    rng = KINDS[kind]()
    with pytest.raises(Exception) as plain:
        draw(rng, POINT)
    with pytest.raises(type(plain.value)):
        codipy.grad(lambda x: np.sum(draw(rng, x)))(POINT)
    assert rng.random() == KINDS[kind]().random()


@pytest.mark.parametrize("kind", KINDS)
def test_where_a_program_is_not_rebuilt_rows_are_not_lost(kind):
    def f(x):
        a = codipy.Array(np.arange(12.0).reshape(6, 2))
        a[0] = x
        KINDS[kind]().shuffle(a)
        return np.sum(a)

    def g(x):
        a = codipy.Array(np.zeros((3, 2)))
        a[0] = x
        a[1] = a[0]  # a statement may
        a[0], a[1] = a[1], a[0]
        return np.sum(a)

    with warnings.catch_warnings(), pytest.raises(ActiveError, match="permutation"):
        warnings.simplefilter("ignore")
        codipy.grad(f, rebind=False)(POINT)
    np.testing.assert_array_equal(codipy.grad(g, rebind=False)(POINT), [2.0, 2.0])


@pytest.mark.parametrize("kind", KINDS)
def test_draws_of_float32_are_made_with_doubles(kind):
    def f(x):
        rng = KINDS[kind]()
        a, b = x[0] - np.float32(0.6), x[1]
        return np.concatenate([rng.uniform(0.1, b, 3), rng.uniform(a, b, 2), rng.normal(a, b, 2),
                               rng.exponential(b, 2), rng.lognormal(a, b, 2)])  # fmt: skip

    x = POINT.astype(np.float32)
    value, pullback = codipy.vjp(f, x)
    assert value.dtype == np.float64 and value.tobytes() == f(x).tobytes()
    seed = np.cos(np.arange(11.0))
    wide = codipy.vjp(f, x.astype(float))[1](seed)[0]
    np.testing.assert_allclose(pullback(seed)[0], wide, rtol=1e-5)


@pytest.mark.parametrize("call", ["permuted(y, axis=0)", "permuted(y)", "permutation(y)", "permutation(y, axis=1)",
                                  "choice(y, 3)", "choice(y, 3, axis=1)"])  # fmt: skip
@pytest.mark.parametrize("view", ["y.T", "y[::-1]", "y[:, ::2]", "np.asfortranarray(y)", "y", "y.reshape(2, 2, 5).T"])
def test_what_is_moved_lies_as_in_numpy(view, call):
    def f(x):
        z = eval(f"np.random.default_rng(1).{call}", {"np": np, "y": eval(view, {"np": np, "y": np.sin(x)})})
        strides.append(z.strides)
        return np.sum(z * np.cos(z)), z

    strides, x = [], np.linspace(0.1, 1.9, 20).reshape(4, 5)
    total, moved = codipy.vjp(f, x)[0]
    expected = f(x)
    assert total == expected[0] and moved.tobytes() == expected[1].tobytes() and strides[0] == strides[1]


def test_the_namespace_has_it():
    assert codipy.numpy.random.Generator == np.random.Generator
    assert isinstance(np.random.default_rng(), codipy.numpy.random.Generator)
    assert isinstance(codipy.numpy.random.default_rng(), np.random.Generator)
    assert codipy.numpy.random.PCG64 is np.random.PCG64
    assert type(codipy.numpy.random.default_rng(1).normal(size=2)) is np.ndarray
    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(2.0))
        y = tape.register_output(codipy.numpy.random.default_rng(1).normal(x))
    assert y.value == np.random.default_rng(1).normal(2.0)
