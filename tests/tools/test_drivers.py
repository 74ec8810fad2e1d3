# SPDX-License-Identifier: Apache-2.0
"""grad and value_and_grad: forms of arguments, settings, reuse, nesting, errors that name the place."""
import collections
import math
import threading
from fractions import Fraction

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from codipy.tools import pool
from tests.strategies import STRATEGIES, VARIANTS

SETTINGS = [*((strategy, None) for strategy in STRATEGIES), *VARIANTS]
Point = collections.namedtuple("Point", "x y")


def rosenbrock(x):
    total = 0.0
    for a, b in zip(x, x[1:]):
        total = total + 100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2
    return total


def rosenbrock_gradient(x):
    gradient = [0.0] * len(x)
    for i in range(len(x) - 1):
        residual = x[i + 1] - x[i] * x[i]
        gradient[i] += -400.0 * residual * x[i] - 2.0 * (1.0 - x[i])
        gradient[i + 1] += 200.0 * residual
    return gradient


def test_every_setting_gives_the_gradient():
    x = [0.3 * k - 1.0 for k in range(10)]
    for strategy, granularity in SETTINGS:
        driver = codipy.value_and_grad(rosenbrock, strategy=strategy, granularity=granularity)
        for _ in range(3):
            value, gradient = driver(x)
            assert value == rosenbrock(x) and type(value) is float
            assert gradient == pytest.approx(rosenbrock_gradient(x), rel=1e-12)
        assert x == [0.3 * k - 1.0 for k in range(10)]


@pytest.mark.parametrize(
    ("tree", "total"),
    [
        (2.0, lambda t: t * t),
        (2, lambda t: t * t),
        (np.float64(2.0), lambda t: t * t),
        (np.int32(2), lambda t: t * t),
        (Fraction(2), lambda t: t * t),
        (codipy.Real(2.0), lambda t: t * t),
    ],
)
def test_numbers(tree, total):
    gradient = codipy.grad(total)(tree)
    assert gradient == 4.0 and type(gradient) is float


@pytest.mark.parametrize(
    ("tree", "function", "expected"),
    [
        ([], lambda t: 1.0, []),
        ([3.0, 1], lambda t: t[0] * t[1], [1.0, 3.0]),
        ((3.0, 5.0), lambda t: t[0] * t[1], (5.0, 3.0)),
        ([[3.0], (4.0, [])], lambda t: t[0][0] * t[1][0], [[4.0], (3.0, [])]),
        ({"a": 2.0, "b": [1.0, 3]}, lambda t: t["a"] * t["b"][1], {"a": 3.0, "b": [0.0, 2.0]}),
        (Point(2.0, 7.0), lambda t: t.x * t.y, Point(7.0, 2.0)),
        (collections.OrderedDict(b=2.0, a=5.0), lambda t: t["a"] * t["b"], collections.OrderedDict(b=5.0, a=2.0)),
        (collections.defaultdict(list, a=2.0), lambda t: t["a"] ** 2, collections.defaultdict(list, a=4.0)),
    ],
)
def test_the_gradient_has_the_form_of_the_argument(tree, function, expected):
    gradient = codipy.grad(function)(tree)
    assert gradient == expected and type(gradient) is type(expected)
    assert list(gradient) == list(expected)


def test_subclasses_of_list_keep_their_type():
    class Vector(list):
        pass

    gradient = codipy.grad(lambda v: v[0] * v[1])(Vector([2.0, 3.0]))
    assert type(gradient) is Vector and gradient == [3.0, 2.0]


def test_argnums_and_keywords():
    def f(a, name, b, *, power=1, scale=1.0):
        assert name == "text"
        return scale * a * b[0] ** power

    assert codipy.grad(f)(2.0, "text", [3.0]) == 3.0
    assert codipy.grad(f, 2)(2.0, "text", [3.0], power=2, scale=10.0) == [120.0]
    assert codipy.grad(f, (2, 0))(2.0, "text", [3.0], scale=10.0) == ([20.0], 30.0)
    assert codipy.grad(f, (0,))(2.0, "text", [3.0]) == (3.0,)
    assert codipy.value_and_grad(f, argnums=(0, 2))(2.0, "text", [3.0]) == (6.0, (3.0, [2.0]))


def test_the_function_may_change_its_argument():
    def f(x):
        x[0] = x[0] * x[0]
        x.append(2.0)
        return x[0] * x[-1]

    point = [3.0, 1.0]
    assert codipy.grad(f)(point) == [12.0, 0.0]
    assert codipy.grad(lambda t: f(t[0]))((point,)) == ([12.0, 0.0],)
    assert point == [3.0, 1.0]


def test_an_output_may_be_an_input_or_a_constant():
    assert codipy.value_and_grad(lambda x: x)(3.0) == (3.0, 1.0)
    assert codipy.value_and_grad(lambda x: 7)([1.0, 2.0]) == (7.0, [0.0, 0.0])
    assert codipy.value_and_grad(lambda x: np.float64(7.5))(1.0) == (7.5, 0.0)
    assert codipy.value_and_grad(lambda x: codipy.Real(7.5))(1.0) == (7.5, 0.0)


@pytest.mark.parametrize(
    ("leaf", "said"),
    [
        ("text", "str 'text'"),
        (None, "is not a real number but None"),
        (True, "bool True"),
        (np.zeros(3, np.int64), r"ndarray of dtype int64.*astype\(float\)"),
        (np.ma.zeros(3), r"MaskedArray.*np\.asarray"),
        (np.bool_(True), "bool"),
        (object, "type"),
    ],
)
def test_a_leaf_that_is_no_number_is_named(leaf, said):
    with pytest.raises(TypeError, match=rf"argument 1\['rates'\]\[2\].*{said}"):
        codipy.grad(lambda a, t: a, 1)(1.0, {"rates": (1.0, [2.0], leaf)})
    with pytest.raises(TypeError, match=rf"argument 0\[1\].*{said}"):
        codipy.grad(lambda t: t[0])([1.0, leaf])
    assert codipy.grad(lambda a, flag: a)(1.0, leaf) == 1.0


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "NoneType: does it return on every path"),
        ([1.0], "list"),
        ("1", "str"),
        (True, "bool"),
        (1j, "complex"),
        (np.ones(2), "ndarray"),
    ],
)
def test_an_output_that_is_no_number_is_named(result, said):
    def cost(x):
        return result

    with pytest.raises(TypeError, match=f"cost must return one real number, got {said}"):
        codipy.grad(cost)(1.0)
    assert codipy.active_tape() is None


def test_bad_settings_fail_before_the_first_call():
    with pytest.raises(ValueError, match="strategy 'fast'.*'primal-reuse'"):
        codipy.grad(rosenbrock, strategy="fast")
    with pytest.raises(ValueError, match="granularity 'loop'.*'operation'"):
        codipy.value_and_grad(rosenbrock, granularity="loop")
    with pytest.raises(TypeError, match=r"f must be a function, got float: say grad\(f\)\(x\)"):
        codipy.grad(3.0)
    with pytest.raises(TypeError, match="strategy"):
        codipy.grad(rosenbrock, strategy=["simple"])


@pytest.mark.parametrize("argnums", [1.0, "0", True, (0, 1.0), [0]])
def test_argnums_of_the_wrong_type(argnums):
    with pytest.raises(TypeError, match="argnums must be an int or a tuple of ints"):
        codipy.grad(rosenbrock, argnums)


@pytest.mark.parametrize("argnums", [-1, (0, -1), (0, 0), ()])
def test_argnums_of_the_wrong_value(argnums):
    with pytest.raises(ValueError, match="argnums"):
        codipy.grad(rosenbrock, argnums)


def test_a_missing_positional_argument():
    with pytest.raises(TypeError, match="<lambda> got 1 positional arguments, but argnums is 1: .* by position"):
        codipy.grad(lambda a, b: a * b, 1)(2.0, b=3.0)


def test_an_exception_leaves_nothing_behind():
    kept = []

    def fails(x):
        kept.append(x * 2.0)
        raise KeyError("mine")

    for strategy, granularity in SETTINGS:
        with pytest.raises(KeyError, match="mine"):
            codipy.grad(fails, strategy=strategy, granularity=granularity)(2.0)
        assert codipy.active_tape() is None
        driver = codipy.grad(lambda x: x * x, strategy=strategy, granularity=granularity)
        assert driver(3.0) == 6.0
        with pytest.raises(TapeError, match="reset"):
            codipy.grad(lambda x: x * kept[-1], strategy=strategy, granularity=granularity)(3.0)
        assert driver(3.0) == 6.0


def test_the_outer_recording_goes_on():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(3.0)
        assert codipy.grad(lambda t: t * t)(5.0) == 10.0
        assert codipy.active_tape() is tape
        y = tape.register_output(x * x)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 6.0


def test_drivers_nest_and_recurse():
    def power(x, n):
        inner = codipy.grad(lambda t: power(t, n - 1))(2.0) if n else 1.0
        return x * x * inner

    # Each level is 2 * 2 times the next; the innermost counts 1.
    assert codipy.grad(power)(2.0, 4) == 4.0**5


@pytest.mark.parametrize("form", [lambda x: x, lambda x: [1.0, x], lambda x: {"a": (x,)}])
def test_an_active_argument_where_nothing_records_is_refused(form):
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
    with pytest.raises(ActiveError, match=r"argument 0.*on a tape that does not record.*codipy\.value\(x\)"):
        codipy.grad(lambda t: 1.0)(form(x))


def test_a_tape_is_used_again_and_keeps_its_memory():
    codipy.clear_tapes()
    driver = codipy.grad(rosenbrock, strategy="primal")
    driver([1.0] * 50)
    tape = pool.borrow(("primal", None))
    allocated = tape.statistics().total.allocated
    assert tape.statements == 0 and not tape.is_active
    pool.give_back(("primal", None), tape)
    for _ in range(20):
        driver([1.0] * 50)
    assert pool.borrow(("primal", None)) is tape
    assert tape.statistics().total.allocated == allocated
    assert pool.borrow(("primal", None)) is not tape


def test_tapes_are_cleared_on_demand():
    codipy.grad(rosenbrock)([1.0, 2.0])
    kept = pool.borrow(("auto", None))
    pool.give_back(("auto", None), kept)
    codipy.clear_tapes()
    assert pool.borrow(("auto", None)) is not kept


def test_a_function_that_leaves_a_recording_open_does_not_spoil_the_pool():
    stray = codipy.Tape()

    def opens(x):
        stray.set_active()
        return x

    with pytest.raises(TapeError, match="innermost recording"):
        codipy.grad(opens)(1.0)
    stray.set_passive()
    codipy.active_tape().set_passive()
    assert codipy.active_tape() is None
    assert codipy.grad(lambda x: x * x)(4.0) == 8.0


def test_inside_passive_a_driver_records_all_the_same():
    with codipy.passive():
        assert codipy.grad(lambda x: x * x)(3.0) == 6.0
        assert codipy.active_tape() is None


def test_a_small_call_after_a_large_one_is_right():
    def f(x, n):
        total = x
        for _ in range(n):
            total = total * 1.0 + x
        return total

    for strategy, granularity in SETTINGS:
        driver = codipy.grad(f, strategy=strategy, granularity=granularity)
        assert [driver(2.0, n) for n in (1, 3000, 0, 2)] == [2.0, 3001.0, 1.0, 3.0]


def test_threads_have_tapes_of_their_own():
    driver = codipy.grad(rosenbrock)
    points = [[0.1 * k + 0.01 * j for j in range(30)] for k in range(4)]
    results = {}

    def work(k):
        results[k] = [driver(points[k]) for _ in range(50)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        expected = pytest.approx(rosenbrock_gradient(points[k]), rel=1e-12)
        assert all(result == expected for result in results[k])


def test_names_and_signatures():
    gradient = codipy.grad(rosenbrock)
    assert gradient.__name__ == "rosenbrock" and gradient.__wrapped__ is rosenbrock
    assert gradient.__doc__ == "Gradient of rosenbrock by argument 0."

    class Model:
        def __call__(self, x):
            return x * x

    assert codipy.grad(Model())(3.0) == 6.0
    assert codipy.grad(abs)(-3.0) == -1.0
    with pytest.raises(TypeError, match="Model got 0"):
        codipy.grad(Model())()


def test_what_stands_for_an_object_that_is_called_has_none_of_its_state():
    class Model:
        """A model."""

        def __init__(self):
            self.u = np.zeros(3)

        def __call__(self, x):
            self.u[:] = x
            return np.sum(self.u * self.u)

    model = Model()
    model.__name__ = "model"
    driver, run = codipy.value_and_grad(model), codipy.rebind(model)
    assert driver(2.0) == (12.0, 12.0) and model.u.tolist() == [2.0] * 3
    for one in (driver, run):
        assert one.__wrapped__ is model and one.__name__ == "model" and not hasattr(one, "u")


def test_nan_and_infinity_pass_through():
    value, gradient = codipy.value_and_grad(lambda x: x[0] * x[1])([math.inf, 2.0])
    assert value == math.inf and gradient == [2.0, math.inf]
    assert math.isnan(codipy.grad(lambda x: x * x)(math.nan))
