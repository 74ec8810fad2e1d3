# SPDX-License-Identifier: Apache-2.0
"""Arguments that are arrays without axes: NumPy writes into them, under all their names, and so it is in drivers."""

import copy
import math
import statistics
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
import codipy.implicit
from codipy.errors import ActiveError
from codipy.testing import check_derivatives
from tests.strategies import BY_STATEMENT, VARIANTS, each_strategy

WEIGHTS = np.array([1.5, -0.5, 0.7])
AT = 1.7
KEPT = np.array(1.0)


def kept(x):
    """That of the module, which the caller sees as well."""
    KEPT[...] = x * x
    y = KEPT
    y += x
    return KEPT * y


def closure(x):
    def grow():
        nonlocal x
        x += 1.0

    y = x
    grow()
    return y * x


def loop(x):
    total = np.zeros((), x.dtype)
    for k in range(4):
        total += x * k
        x *= 1.1
    return total * x


def function(x):
    def doubled(u):
        u *= 2.0
        return u

    return doubled(x) * x


def two_names(statement, result="x * y"):
    """A function that has its argument under two names, writes under one of them, and reads both."""
    module = {"np": np, "math": math, "copy": copy, "statistics": statistics, "W": WEIGHTS}
    exec(f"def f(x):\n    y = x\n    {statement}\n    return {result}\n", module)
    return module["f"]


WRITES = """
x += 1.0; x -= x * x; x *= 2.0; x /= 3.0; x **= 2; x %= 1.5; x += x; x[...] = x * 3.0; x[()] = np.sin(y); x[...] = y
np.add(x, 1.0, out=x); np.multiply(x, x, x); np.sin(x, out=x); np.add(x, 1.0, out=x, where=True); x.fill(x * x)
x.put(0, x * x); np.put(x, [0], x * x); np.copyto(x, x * x); np.putmask(x, True, x * x); x.flat[0] = x * x
x.flat = x * x; x.flat[:] = [x * x, 3.0 * x]; x[x.real > 0.0] = 7.0 * x.sum(); x[True] *= 3.0; np.add.at(x, (), x)
y = x[...]; y += 1.0 | y = x[()]; x *= 3.0 | y = x.T; y += 1.0 | y = x.view(); y += 1.0 | y = x.real; y += 1.0
y = x.reshape(()); y += 1.0 | y = x.copy(); y += 1.0 | y = copy.copy(x); y += 1.0 | y = copy.deepcopy(x); y += 1.0
y = np.asarray(x); y += 1.0 | y = np.array(x); y += 1.0 | y = np.array(x, copy=False); y += 1.0
y = np.asarray(x * 2.0); z = y; y += 1.0; y = z | y = np.array(x * 2.0); z = y; y += 1.0; y = z
y = np.where(x.real > 0.0, x, 0.0); z = y; y += 1.0; y = z | y = np.zeros_like(x); z = y; y += x; y = z
y = np.full((), x); z = y; y += 1.0; y = z | y = x * 2.0; z = y; y += 1.0; y = z | y = x.sum(); z = y; y += 1.0; y = z
y = np.nan_to_num(x, copy=False); y += 1.0 | z = np.zeros_like(x); y = np.dot(x, x, out=z); z += 1.0
z = np.zeros_like(x); y = np.multiply(x, x, out=z); z += 1.0 | y = x.item(); x += 1.0 | y = x.tolist(); x += 1.0
y = [x]; y[0] += 1.0; y = y[0] | y = {'x': x}; y['x'] *= x; y = y['x'] | y = x; x = x + 1.0; x *= 2.0
y = x[None]; y += 1.0; y = y[0] | y = x.ravel(); y += 1.0; y = y[0] | y = x.flatten(); y += 1.0; y = y[0]
y = np.atleast_1d(x); y *= 2.0; y = y[0] | y = np.reshape(x, (1, 1)); y += 1.0; y = y[0, 0]
y = np.broadcast_to(x, (3,)); x += 1.0; y = (y * W).sum() | y = W * x; x *= 2.0; y = (y * x).sum()
y = np.zeros(3, x.dtype); y[1] = x; x += 1.0; y[2] = x; y = (y * W).sum()
y = np.stack([x, x * x]); x += 1.0; y = y.sum()
y = np.array([x, x * x]); x += 1.0; y = y.sum() | y = np.append(W, x); x += 1.0; y = (y * y).sum()
"""
STATEMENTS = [
    text for line in WRITES.strip().split("\n") for text in (line.split(" | ") if line[0] == "y" or " | " in line
    else line.split("; "))
]  # fmt: skip
BRANCHES = {
    "isinstance": "x * x if isinstance(x, np.ndarray) else 5.0 * x",
    "type": "x * x if type(x) is np.ndarray else 5.0 * x",
    "type of a result": "x * x if type(x * x) is np.float64 and type(x[()]) is np.float64 else 5.0 * x",
    "no float": "5.0 * x if isinstance(x, float) else x * x",
    "shape": "x * x if x.shape == () and x.ndim == 0 and x.size == 1 else 5.0 * x",
    "attributes": "x * x if hasattr(x, 'fill') and not hasattr(x, 'hex') else 5.0 * x",
}
FUNCTIONS = [
    "math.sin(x)", "math.atan2(x, x)", "math.atan2(1.0, x)", "math.hypot(x, x, x)", "math.pow(x, 3)",
    "math.log(x, 3.0)", "math.fsum([x, x])", "math.modf(x)[0] * x",
    "math.dist([x, 1.0], [0.5, x])", "math.frexp(x)[0]", "math.ldexp(x, 2)",
    "math.floor(x * 1.2) * x", "math.prod([x, x])", "statistics.fmean([x, x * x])", "np.arange(x, 5.5).sum()",
    "np.linspace(0.0, x, 5).sum()", "np.polynomial.polynomial.polyval(x, [1.0, x])", "float(x) * x", "abs(-x)",
    "max(x, 0.1) * x", "sum([x, x]) * x", "round(float(x), 1) * x",
]  # fmt: skip


def slope(f, *rest):
    """Central differences of fourth order of the plain run."""

    def at(moved):
        return float(f(np.array(AT + moved), *map(copy.deepcopy, rest)))

    h = 1e-3
    return (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)


def check(f, *rest, variants=BY_STATEMENT):
    """Value, gradient, and that both are what a plain run and its differences give."""
    value, expected = float(f(np.array(AT), *map(copy.deepcopy, rest))), slope(f, *rest)
    for strategy, granularity in variants:
        driver = codipy.value_and_grad(f, strategy=strategy, granularity=granularity)
        given = np.array(AT)
        found, gradient = driver(given, *map(copy.deepcopy, rest))
        assert found == value, (strategy, granularity)
        assert gradient == pytest.approx(expected, rel=1e-8), (strategy, granularity)
        assert type(gradient) is np.ndarray and gradient.shape == () and given == AT


@pytest.mark.parametrize("statement", STATEMENTS)
def test_writes_are_seen_under_all_names(statement):
    f = two_names(statement)
    check(f)
    assert codipy.jvp(f, (np.array(AT),), (1.0,))[1] == pytest.approx(slope(f), rel=1e-8)
    assert codipy.vjp(f, np.array(AT))[1](1.0)[0] == pytest.approx(slope(f), rel=1e-8)


@pytest.mark.parametrize("f", [kept, closure, function, loop])
def test_writes_by_others(f):
    check(f)
    assert type(KEPT) is np.ndarray


@pytest.mark.parametrize("result", [*BRANCHES.values(), *FUNCTIONS])
def test_branches_and_functions_are_those_of_the_plain_run(result):
    check(two_names("pass", result), variants=VARIANTS[:1])


@pytest.mark.parametrize("statement", STATEMENTS[::4])
def test_second_derivatives(statement):
    f = two_names(statement, "x * y + x ** 3")
    gradient = codipy.grad(f)
    expected = slope(lambda x: gradient(x))
    for second in (
        codipy.hessian(f)(np.array(AT)),
        codipy.grad(gradient)(np.array(AT)),
        codipy.jacobian(gradient)(np.array(AT)),
        codipy.hvp(f, (np.array(AT),), (np.array(1.0),))[0],
        2.0 * codipy.taylor(f, np.array(AT), 1.0, 2)[2],
    ):
        assert second == pytest.approx(expected, rel=1e-7) and np.shape(second) == ()


def test_derivatives_are_of_the_kind_of_the_argument():
    def cube(x):
        return x * x * x

    def doubled(x):
        x *= 2.0
        return x

    x, single = np.array(2.0), np.array(2.0, np.float32)

    def are_arrays(tree, dtype):
        leaves = tree if isinstance(tree, (list, tuple)) else list(tree.values()) if isinstance(tree, dict) else None
        if leaves is not None:
            return all(are_arrays(leaf, dtype) for leaf in leaves)
        return type(tree) is np.ndarray and tree.shape == () and tree.dtype == dtype

    for given, dtype in ((x, float), (single, np.float32)):
        for tree in (
            codipy.grad(cube)(given), codipy.jacobian(cube)(given), codipy.hessian(cube)(given),
            codipy.grad(lambda a, b: a * b, argnums=(0, 1))(given, given),
            codipy.hessian(lambda a, b: a * b, argnums=(0, 1))(given, given),
            codipy.grad(lambda d: d["a"] * d["b"][0])({"a": given, "b": [given]}),
            codipy.vjp(cube, given)[1](1.0), codipy.vjp(doubled, given)[1](np.array(1.0)),
            codipy.jvp(doubled, (given,), (1.0,)), codipy.linearize(doubled, given)[1](1.0),
            codipy.gradient_and_hvp(cube, (given,), (given,)), codipy.grad(codipy.grad(cube))(given),
            codipy.taylor(doubled, given, 1.0, 2), codipy.grad(codipy.hessian(cube))(given),
        ):  # fmt: skip
            assert are_arrays(tree, dtype), tree
    value, gradient = codipy.value_and_grad(lambda a, b: a * b, argnums=(0, 1))(x, 3.0)
    assert value == 6.0 and are_arrays(gradient[0], float) and type(gradient[1]) is float
    assert codipy.jacobian(lambda x: x * WEIGHTS)(x).tolist() == WEIGHTS.tolist()
    assert codipy.sparsity(lambda x: x * WEIGHTS, x).shape == (3, 1)
    assert type(codipy.grad(cube)(np.float64(2.0))) is float


@dataclass
class Pair:
    a: object
    b: object


class Holder:
    def __init__(self, u):
        self.u = u


def in_dict(x, d):
    y = d["a"]
    d["a"] += x
    return y * d["a"]


def in_list(x, items):
    y = items[0]
    y += x
    return y * items[0]


def in_object(x, holder):
    u = holder.u
    u[()] = x * 2.0
    holder.u += x
    return u * x


def beside(x, work):
    y = work
    work += x
    return y * work


@pytest.mark.parametrize(
    ("f", "other"),
    [
        (beside, np.array(1.0)),
        (in_dict, {"a": np.array(1.0)}),
        (in_list, [np.array(1.0)]),
        (in_object, Holder(np.array(1.0))),
    ],
)
def test_what_is_not_differentiated_by_is_filled(f, other):
    check(f, other, variants=VARIANTS[:3])
    other = copy.deepcopy(other)      # that of the parameter is in a tuple of pytest's, where nobody finds it
    codipy.grad(f)(np.array(2.0), other)
    left = other["a"] if isinstance(other, dict) else getattr(other, "u", other)
    left = left[0] if isinstance(left, list) else left
    assert type(left) is np.ndarray and left == (6.0 if f is in_object else 3.0)


@each_strategy
def test_inside_of_trees(strategy):
    def of_pair(pair):
        y = pair.a
        pair.a *= pair.b
        return y * pair.a

    found = codipy.grad(of_pair, strategy=strategy)(Pair(np.array(2.0), np.array(3.0)))
    assert (found.a, found.b) == (36.0, 24.0) and type(found.a) is np.ndarray
    found = codipy.grad(lambda d: in_dict(d["b"], d), strategy=strategy)({"a": np.array(2.0), "b": np.array(3.0)})
    assert (found["a"], found["b"]) == (10.0, 10.0)
    found = codipy.grad(lambda t: in_list(t[1], t), strategy=strategy)([np.array(2.0), 3.0])
    assert found == [10.0, 10.0]


def test_float32_has_numpys_promotion():
    """Beside a float64 an array without axes counts as one, and beside a float of Python it stays single."""
    dtypes = []

    def f(x):
        y = x
        x *= np.float64(1.1)
        dtypes.append([each.dtype.char for each in (x, x * 1.1, x * np.float64(1.1), x * np.ones(2), x * W32, x + y)])
        return (x * np.float64(1.1) + y * 0.1) * 0.3

    W32 = np.ones(2, np.float32)
    x = np.array(0.7, np.float32)
    value = f(x.copy())
    assert codipy.value_and_grad(f)(x)[0] == value
    assert dtypes[0] == dtypes[1] == list("ffddff")


def test_complex_numbers():
    def f(z):
        w = z
        z += 1.0
        return (w * z * z).real

    z = np.array(2.0 + 1.0j)
    value, gradient = codipy.value_and_grad(f)(z)
    expected = np.conj(3.0 * (z + 1.0) ** 2)  # of Re z**3
    assert value == f(z.copy()) and type(gradient) is np.ndarray and gradient == pytest.approx(expected)
    assert codipy.jvp(lambda z: z * z, (z,), (1.0 + 0.0j,))[1] == pytest.approx(2.0 * z)
    assert codipy.jacobian(lambda z: z * z)(z) == pytest.approx(2.0 * z)


def test_checks_of_derivatives_run_with_what_is_passed():
    seen = set()

    def f(x, d):
        seen.add((type(x), type(d["a"]), x.shape))
        x += d["a"]
        return x * d["a"]

    for strategy in ("auto", "forward"):
        assert check_derivatives(f, np.array(2.0), {"a": np.array(3.0, np.float32)}, strategies=strategy).passed
    assert seen == {(np.ndarray, np.ndarray, ())}
    report = check_derivatives(two_names("x += 1.0"), np.array(2.0))
    assert report.value == 9.0 and report.differences[0] == pytest.approx(6.0)


def test_one_array_twice_is_refused():
    def f(a, b):
        a += 1.0
        return a * b

    x = np.array(2.0)
    for argnums in (0, (0, 1)):
        with pytest.raises(ActiveError, match=r"array of shape \(\) by which it is differentiated.*pass a copy"):
            codipy.grad(f, argnums=argnums)(x, x)
    assert codipy.grad(f)(x, x.copy()) == 2.0


@pytest.mark.parametrize("x", [np.array(2), np.array(True), np.array(2.0, np.float16), np.array(2.0, object)])
def test_other_dtypes_are_refused_as_those_of_arrays_with_axes(x):
    with pytest.raises(TypeError, match=r"argument 0 is an ndarray of dtype .*pass x.astype\(float\)"):
        codipy.grad(lambda x: x * x)(x)


def test_gradients_inside_of_a_function_are_such_arrays():
    def f(x):
        g = codipy.grad(lambda u: u**3)(x)
        kept = g
        g += x
        inner = codipy.jacobian(lambda u: u * x * u)(x)
        other = inner
        inner *= 2.0
        return kept * x + other

    def by_hand(x):
        return (3.0 * x * x + x) * x + 4.0 * x * x

    assert codipy.value_and_grad(f)(np.array(AT)) == (by_hand(AT), pytest.approx(slope(by_hand)))


def test_solutions():
    def solver(p):
        return np.array(np.cbrt(p))

    solution = codipy.implicit.root(lambda u, p: u**3 - p if isinstance(u, np.ndarray) and p.ndim == 0 else 1.0, solver)

    def f(p):
        u = solution(p)
        kept = u
        u += p
        return kept * p

    check(f, variants=VARIANTS[:3])
    assert codipy.hessian(f)(np.array(AT)) == pytest.approx(slope(lambda p: codipy.grad(f)(p)), rel=1e-7)


def test_variables_of_a_tape():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array(2.0))
        y = x
        y += 1.0
        result = tape.register_output(x * y)
    assert type(x) is codipy.Array and result.value == 9.0
    result.gradient = 1.0
    tape.evaluate()
    assert type(x.gradient) is np.ndarray and x.gradient == 6.0 and tape.inputs[0].gradient == 6.0


def test_functions_of_scipy_have_its_bits():
    special = pytest.importorskip("scipy.special")
    for name in ("erf", "erfc", "gammaln", "gamma"):
        function = getattr(special, name)
        for x in np.random.default_rng(2).uniform(0.05, 2.0, 40):
            assert codipy.value_and_grad(lambda x, f=function: f(x))(np.array(x))[0] == function(np.array(x)), (name, x)
