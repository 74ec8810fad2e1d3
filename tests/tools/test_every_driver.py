# SPDX-License-Identifier: Apache-2.0
"""All drivers have the same features: trees, argnums, argnames, second results, keywords; they compose, and pickle.

What a driver gives is contracted with a direction, so that one number stands for it: the first or second derivative
along that, of which differences with complex steps of the same source on plain NumPy are the oracle.
"""

import copy
import functools
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import codipy
from tests.covering import in_turn, label
from tests.strategies import COMPARED, each_pair


def model(p, q, *, scale):
    """One number of a dict, an array and a keyword."""
    u = np.exp(p["a"] * 0.5) * np.sin(p["b"]) * q
    return np.sum(u * u * scale[0]) + p["a"] ** 2 * scale[1] ** 3


def with_aux(p, q, *, scale):
    return model(p, q, scale=scale), {"q": q * 2.0}


ARGS = {"a": 0.7, "b": np.array([0.3, -1.1])}, np.array([1.5, 0.4])
KWARGS = {"scale": [1.2, 0.8]}
CHOICES = [(0, None), (1, None), ((0,), None), ((1, 0), None), (None, "scale"), (0, "scale"), ((0, 1), ("scale",)),
           (None, ("q", "scale")), (0, "q")]


def chosen(args, kwargs, argnums, argnames):
    """What a derivative by some arguments has the form of."""
    named = {"p": args[0], "q": args[1], **kwargs}

    def by(choice, given):
        if choice is None:
            return None
        return tuple(given[c] for c in choice) if isinstance(choice, tuple) else given[choice]

    found = [tree for tree in (by(argnums, args), by(argnames, named)) if tree is not None]
    return found[0] if len(found) == 1 else tuple(found)


def flat(argnums, argnames):
    """The same choice for drivers that take and give one tuple."""
    numbers = argnums if isinstance(argnums, tuple) or argnums is None else (argnums,)
    return numbers, (argnames,) if isinstance(argnames, str) else argnames


def leaves(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for branch in tree for leaf in leaves(branch)] if isinstance(tree, (list, tuple)) else [tree]


def moved(tree, by, t):
    """tree + t * by"""
    if isinstance(tree, dict):
        return {key: moved(branch, by[key], t) for key, branch in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(moved(branch, other, t) for branch, other in zip(tree, by))
    return tree + t * by


def direction(tree):
    """A direction of its form."""
    count = iter(range(1, 100))
    return moved(moved(tree, tree, -1.0), mapped(tree, lambda leaf: np.cos(next(count)) + 0.0 * leaf), 1.0)


def mapped(tree, f):
    if isinstance(tree, dict):
        return {key: mapped(branch, f) for key, branch in tree.items()}
    return type(tree)(mapped(branch, f) for branch in tree) if isinstance(tree, (list, tuple)) else f(tree)


def dot(derivative, along):
    pairs = zip(leaves(derivative), leaves(along), strict=True)
    return sum([np.sum(d * v) for d, v in pairs])


def twice(hessian, along):
    """v H v, of a Hessian that has the form of the argument in the place of each leaf of that."""
    rows, v = leaves(hessian), leaves(along)
    assert len(rows) == len(v) ** 2
    blocks = [rows[i * len(v):(i + 1) * len(v)] for i in range(len(v))]
    return sum([np.sum(np.reshape(x, (*np.shape(x), *[1] * np.ndim(y))) * h * y)
                for x, row in zip(v, blocks) for y, h in zip(v, row)])


# ---- The table: each driver as (derivative along a direction, value or None, second result or None) ------------------
def by_maker(maker):
    def run(f, args, kwargs, argnums, argnames, has_aux):
        found = getattr(codipy, maker)(f, argnums, argnames=argnames, has_aux=has_aux)(*args, **kwargs)
        along = direction(chosen(args, kwargs, argnums, argnames))
        value = aux = None
        if maker == "value_and_grad":
            value, found = found
            value, aux = value if has_aux else (value, None)
        elif has_aux:
            found, aux = found
        return (twice if maker == "hessian" else dot)(found, along), value, aux

    return run


def by_product(name):
    def run(f, args, kwargs, argnums, argnames, has_aux):
        driver, options = getattr(codipy, name), {"kwargs": kwargs, "argnames": argnames, "has_aux": has_aux}
        options["argnums"] = () if argnums is None else argnums      # the default is all
        numbers, names = flat(argnums, argnames)
        tree = (*(chosen(args, kwargs, numbers, None) if numbers is not None else ()),
                *(chosen(args, kwargs, None, names) if names is not None else ()))
        along = direction(tree)
        if name in ("vjp", "linearize"):
            value, product, *aux = driver(f, *args, **options)
            found = product(*along) if name == "linearize" else dot(product(1.0), along)
        elif name == "jvp":
            value, found, *aux = driver(f, args, along, **options)
        else:
            found = driver(f, args, along, **options)
            if name == "gradient_and_hvp":
                gradient, *found = found
                assert [np.shape(g) for g in leaves(gradient)] == [np.shape(x) for x in leaves(tree)]
            else:
                found = found if has_aux else (found,)
            value, (found, *aux) = None, found
            found = dot(found, along)
        return found, value, aux[0] if aux else None

    return run


MAKERS = ["grad", "value_and_grad", "jacobian", "hessian"]
PRODUCTS = ["vjp", "jvp", "linearize", "hvp", "gradient_and_hvp"]
DRIVERS = {name: by_maker(name) for name in MAKERS} | {name: by_product(name) for name in PRODUCTS}
SECOND = {"hessian", "hvp", "gradient_and_hvp"}


def differences(f, args, kwargs, argnums, argnames, order):
    """The derivative along the direction, by a complex step, and for the second order differences of that."""
    positions = {"p": 0, "q": 1}
    numbers, names = flat(argnums, argnames)
    places = [*(numbers or ()), *[positions.get(name, name) for name in names or ()]]
    tree = [args[place] if isinstance(place, int) else kwargs[place] for place in places]
    along = direction(tree)

    def at(t):
        moving, new, named = moved(tree, along, t), list(args), dict(kwargs)
        for place, x in zip(places, moving):
            (new if isinstance(place, int) else named)[place] = x
        return f(*new, **named)

    def slope(t):
        return np.imag(at(t + 1e-30j)) / 1e-30

    return slope(0.0) if order == 1 else (8.0 * (slope(1e-3) - slope(-1e-3)) - (slope(2e-3) - slope(-2e-3))) / 12e-3


@pytest.mark.parametrize("has_aux", [False, True])
@pytest.mark.parametrize(("argnums", "argnames"), CHOICES)
@pytest.mark.parametrize("name", DRIVERS)
def test_features(name, argnums, argnames, has_aux):
    found, value, aux = DRIVERS[name](with_aux if has_aux else model, ARGS, KWARGS, argnums, argnames, has_aux)
    order = 2 if name in SECOND else 1
    expected = differences(model, ARGS, KWARGS, argnums, argnames, order)
    assert found == pytest.approx(expected, rel=1e-13 if order == 1 else 1e-9)
    assert value is None or value == model(*ARGS, **KWARGS)
    assert (aux is not None) == has_aux
    assert aux is None or type(aux["q"]) is np.ndarray and aux["q"].tolist() == (2.0 * ARGS[1]).tolist()


@pytest.mark.parametrize("inner", DRIVERS)
@pytest.mark.parametrize("outer", DRIVERS)
def test_they_compose(outer, inner):
    """The derivative, by one driver, of what another one gives, to the fourth order."""
    def once(p, q, *, scale):
        return DRIVERS[inner](model, (p, q), {"scale": scale}, (0, 1), None, False)[0]

    # Of the function as NumPy runs it: analytic, so that a complex step serves the outer derivative.
    def analytic(p, q, *, scale):
        along = direction(ARGS)

        def at(t):
            return model(*moved((p, q), along, t), scale=scale)

        step = 1e-3
        if inner in SECOND:
            found = [-1.0 / 560, 8.0 / 315, -1.0 / 5, 8.0 / 5, -205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560]
            return sum(c * at((k - 4) * 8 * step) for k, c in enumerate(found)) / (8 * step) ** 2
        found = [1.0 / 280, -4.0 / 105, 1.0 / 5, -4.0 / 5, 0.0, 4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280]
        return sum(c * at((k - 4) * 8 * step) for k, c in enumerate(found)) / (8 * step)

    found, value, _ = DRIVERS[outer](once, ARGS, KWARGS, 0, "scale", False)
    expected = differences(analytic, ARGS, KWARGS, 0, "scale", 2 if outer in SECOND else 1)
    assert found == pytest.approx(expected, rel=1e-6)
    assert value is None or value == pytest.approx(analytic(*ARGS, **KWARGS), rel=1e-7)


# ---- As values: pickled, copied, bound, decorated --------------------------------------------------------------------
class Model:
    """With a method, and an instance that can be called."""

    def __init__(self, power):
        self.power = power

    def loss(self, x):
        return np.sum(x**self.power)

    def __call__(self, x):
        return self.loss(x) * 2.0

    slope = codipy.grad(loss, argnums=1)


@codipy.grad
def decorated(x):
    return np.sum(np.sin(x))


@codipy.primitive
def cube(x):
    return x**3


@cube.vjp
def cube_rule(g, out, x):
    return g * 3.0 * x * x


def square(x):
    return x * x


def square_rule(g, out, x):
    return g * 2.0 * x


SQUARE = codipy.primitive(square)      # found by no name: its name is that of the function
SQUARE.vjp(square_rule)


def total(x, power=3.0):
    return np.sum(x**power)


def through_primitives(x):
    return np.sum(cube(x) * SQUARE(x))


def residual(u, p):
    return u**2 - p


def root_of(p):
    return np.sqrt(p)


def halves(u, p):
    return 0.5 * (u + p / u)


def sum_of_root(p):
    return np.sum(ROOT(p) ** 3)


ROOT = codipy.implicit.root(residual, root_of)
X = np.array([0.5, 2.0])
OBJECTS = {
    "grad": codipy.grad(total),
    "value_and_grad": codipy.value_and_grad(total),
    "jacobian": codipy.jacobian(total, mode="forward", width=2),
    "hessian": codipy.hessian(total, strategy="primal"),
    "a driver of a driver": codipy.jacobian(codipy.grad(total)),
    "a partial function": codipy.grad(functools.partial(total, power=2.0)),
    "a partial driver": functools.partial(codipy.jvp, total, tangents=(X,)),
    "vjp by its name": functools.partial(codipy.value_and_grad(total), power=2.0),
    "a method": codipy.grad(Model(4.0).loss),
    "an instance": codipy.grad(Model(4.0)),
    "a bound driver": Model(2.0).slope,
    "decorated": decorated,
    "hvp": functools.partial(codipy.hvp, total, tangents=(X,)),
    "gradient_and_hvp": functools.partial(codipy.gradient_and_hvp, total, tangents=(X,)),
    "primitives": codipy.grad(through_primitives),
    "a primitive": SQUARE,
    "a decorated primitive": cube,
    "a root": ROOT,
    "a derivative of a root": codipy.grad(sum_of_root),
    "a fixed point": codipy.implicit.fixed_point(halves, root_of, solve="gmres"),
    "a Jacobian of a fixed point": codipy.jacobian(codipy.implicit.fixed_point(halves, root_of, solve="gmres")),
}
AS_TUPLE = {"a partial driver", "hvp", "gradient_and_hvp"}      # these take a tuple of arguments


def call(name, made):
    return made((X,)) if name in AS_TUPLE else made(X)


def called(name, made):
    """In another process: what it gives, and where."""
    return multiprocessing.current_process().name, call(name, made)


def as_lists(found):
    return mapped(found, lambda leaf: np.asarray(leaf).tolist())


@pytest.fixture(scope="module")
def spawned():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("name", OBJECTS)
def test_they_are_pickled_into_spawned_processes(spawned, name):
    expected = as_lists(call(name, OBJECTS[name]))      # it has run: what it keeps is left behind
    where, found = spawned.submit(called, name, OBJECTS[name]).result(timeout=120)
    assert where != multiprocessing.current_process().name
    assert as_lists(found) == expected
    for again in (pickle.loads(pickle.dumps(OBJECTS[name])), copy.deepcopy(OBJECTS[name])):
        assert as_lists(call(name, again)) == expected


@pytest.mark.parametrize("library", ["cloudpickle", "dill"])
def test_lambdas_where_a_library_carries_them(library):
    carrier = pytest.importorskip(library)
    for made in (codipy.grad(lambda x: np.sum(x * x)), codipy.hessian(lambda x: np.sum(x**3))):
        assert as_lists(carrier.loads(carrier.dumps(made))(X)) == as_lists(made(X))


def test_a_lambda_is_refused_by_pickle_itself():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(codipy.grad(lambda x: x * x))


@pytest.mark.parametrize("name", ["vjp", "linearize"])
def test_what_keeps_a_recording_is_not_pickled(name):
    _, product = getattr(codipy, name)(total, X)
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=f"keeps a recording.*codipy.{name}"):
            use(product)


def test_argnums_of_products():
    assert codipy.vjp(lambda x, y: x * y, 2.0, 3.0, argnums=1)[1](1.0) == (2.0,)
    assert codipy.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0,), argnums=0) == (6.0, 3.0)
    with pytest.raises(TypeError, match="2 positional arguments, but argnums is 2"):
        codipy.linearize(lambda x, y: x * y, 2.0, 3.0, argnums=2)
    with pytest.raises(ValueError, match="one for each of the 1 arguments, got 2"):
        codipy.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 1.0), argnums=0)


# ---- Signatures ------------------------------------------------------------------------------------------------------
class Labelled(codipy.Tape):
    def __init__(self, label):
        self.label = label


class Plain(codipy.Tape):
    pass


def test_signatures():
    tape = inspect.signature(codipy.Tape)
    assert list(tape.parameters) == ["strategy", "granularity", "chunk_size", "skip_zero_jacobians",
                                     "skip_invalid_jacobians", "width"]
    assert tape.parameters["strategy"].default == "auto"
    assert tape.parameters["skip_zero_jacobians"].kind is inspect.Parameter.KEYWORD_ONLY
    assert str(inspect.signature(codipy.Real)) == "(value=0.0)"
    assert list(inspect.signature(codipy.Array).parameters) == ["value"]
    assert list(inspect.signature(codipy.Adjoints).parameters) == ["tape", "width"]
    assert str(inspect.signature(codipy.passive)) == "()"
    assert list(inspect.signature(Plain).parameters) == list(tape.parameters)
    for made in (codipy.grad(total), codipy.value_and_grad(total), codipy.jacobian(total), codipy.hessian(total)):
        assert str(inspect.signature(made)) == "(x, power=3.0)"
    assert str(inspect.signature(decorated)) == "(x)" and str(inspect.signature(cube)) == "(x)"
    assert str(inspect.signature(ROOT)) == "(p)"
    assert str(inspect.signature(Model(2.0).slope)) == "(x)"
    for name in (*MAKERS, *PRODUCTS):
        assert "strategy" in inspect.signature(getattr(codipy, name)).parameters


# ---- How the function is recorded and swept --------------------------------------------------------------------------
POINT, ALONG = np.array([0.3, -0.8, 1.4]), np.array([1.0, -0.5, 0.25])


def loss(x):
    return np.sum(np.sin(x) * x[::-1] ** 2)


def parts(x):
    return np.sin(x) * x[::-1] ** 2


def matrix(f, x):
    """The Jacobian by complex steps."""
    return np.stack([np.imag(f(x + 1e-30j * unit)) / 1e-30 for unit in np.eye(x.size)], axis=-1)


def curvature(x):
    """The Hessian of `loss`, by hand."""
    found = np.diag(-np.sin(x) * x[::-1] ** 2 + 2.0 * np.sin(x[::-1]))
    return found + np.fliplr(np.diag(2.0 * np.cos(x) * x[::-1])) + np.fliplr(np.diag(2.0 * np.cos(x) * x[::-1])).T


# What each gives for `f` with a strategy, what that is, and whether it does with a tape that keeps nothing.
BY_STRATEGY = {
    "grad": (lambda s: codipy.grad(loss, **s)(POINT), lambda: matrix(loss, POINT), False),
    "value_and_grad": (lambda s: codipy.value_and_grad(loss, **s)(POINT)[1], lambda: matrix(loss, POINT), False),
    "vjp": (lambda s: codipy.vjp(parts, POINT, **s)[1](ALONG)[0], lambda: ALONG @ matrix(parts, POINT), False),
    "jvp": (lambda s: codipy.jvp(parts, (POINT,), (ALONG,), **s)[1], lambda: matrix(parts, POINT) @ ALONG, True),
    "linearize": (lambda s: codipy.linearize(parts, POINT, **s)[1](ALONG), lambda: matrix(parts, POINT) @ ALONG, False),
    "linearize of grad": (lambda s: codipy.linearize(codipy.grad(loss), POINT, **s)[1](ALONG),
                          lambda: curvature(POINT) @ ALONG, False),
    "hessian": (lambda s: codipy.hessian(loss, **s)(POINT), lambda: curvature(POINT), False),
    "sparse hessian": (lambda s: codipy.hessian(loss, sparsity=True, **s)(POINT).toarray(),
                       lambda: curvature(POINT), False),
    "hvp": (lambda s: codipy.hvp(loss, (POINT,), (ALONG,), **s)[0], lambda: curvature(POINT) @ ALONG, True),
    "gradient_and_hvp": (lambda s: codipy.gradient_and_hvp(loss, (POINT,), (ALONG,), **s)[1][0],
                         lambda: curvature(POINT) @ ALONG, True),
}  # fmt: skip


@pytest.mark.parametrize("driver", BY_STRATEGY)
@each_pair("variant", COMPARED)
def test_every_driver_takes_every_strategy_or_says_so(driver, variant):
    derivative, expected, keeps_nothing = BY_STRATEGY[driver]
    settings = dict(zip(("strategy", "granularity"), variant))
    if variant[0] == "forward" and not keeps_nothing:
        with pytest.raises(ValueError, match="strategy='forward' keeps nothing to sweep over"):
            derivative(settings)
        return
    np.testing.assert_allclose(derivative(settings), expected(), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("variant", "mode", "width"), in_turn(
    COMPARED, ["auto", "reverse", "forward"], [None, 1, 2, 3, 8], others=4), ids=label)
def test_jacobians_in_every_mode_and_width(variant, mode, width):
    def found():
        return codipy.jacobian(parts, mode=mode, width=width, strategy=variant[0], granularity=variant[1])(POINT)

    if variant[0] == "forward" and (mode != "forward" or width in (1, 2)):
        said = "keeps nothing to sweep" if mode != "forward" else f"carries all 3 directions.*leave out width={width}"
        with pytest.raises(ValueError, match=said):
            found()
        return
    np.testing.assert_allclose(found(), matrix(parts, POINT), rtol=1e-13, atol=1e-15)
