# SPDX-License-Identifier: Apache-2.0
"""`codipy.preaccumulate`: gradients are those of the steps, nothing is lost in silence, the Jacobian is what stays."""

import cmath
import dataclasses
import functools
import math
import pickle

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.fuzz.preaccumulated import judge_preaccumulated
from tests.fuzz.scalars import Scalars
from tests.fuzz.suite import refusals
from tests.strategies import VARIANTS, each_as_values, each_pair, each_strategy, kind_of, new_tape

U = np.linspace(0.2, 0.9, 5)


def spiral(x, y, steps=30):
    for _ in range(steps):
        x, y = x * math.cos(y) + 0.01, y + 0.1 * math.sin(x * y)
    return x, y


def waves(u, c):
    for _ in range(30):
        u = np.roll(u, 1) * c + np.sin(u)
    return u, u.sum()


def streams(tape):
    """Bytes of the data streams."""
    return sum(stream.bytes_used for stream in tape.store.streams)


def swept(tape, inputs, output):
    output.gradient = 1.0
    tape.evaluate()
    return [x.gradient for x in inputs]


# ---- The same gradients ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(60))
def test_random_programs_of_floats_have_the_gradients_of_complex_steps(seed):
    program, point, h = Scalars(seed), [0.7, -0.4, 1.3], 1e-30
    complexly = program.compiled(lambda f: f, cmath)
    expected = [complexly(*[complex(v, h * (k == i)) for k, v in enumerate(point)]).imag / h for i in range(3)]
    value = program.compiled(lambda f: f)(*point)
    for strategy, granularity in [VARIANTS[0], VARIANTS[seed % len(VARIANTS)]]:
        f = program.compiled(codipy.preaccumulate)
        drive = codipy.value_and_grad(f, (0, 1, 2), strategy=strategy, granularity=granularity)
        found, gradient = drive(*point)
        assert found == value
        assert np.allclose(gradient, expected, rtol=1e-11, atol=1e-11)


def test_random_programs_of_arrays_have_the_gradients_of_their_steps():
    numbers = iter(range(60))

    def judge(program):
        return judge_preaccumulated(program, [VARIANTS[0], VARIANTS[next(numbers, 0) % len(VARIANTS)]])

    assert refusals("preaccumulated", judge, range(60)) < 4


@each_pair()
def test_numbers_and_arrays_in_every_way_to_record(variant):
    for f, args in ((spiral, (0.9, 0.4)), (waves, (U, 0.3))):
        part, found = codipy.preaccumulate(f), []
        for run in (f, part):
            tape = new_tape(variant)
            with tape:
                inputs = [tape.register_input(codipy.Real(x) if type(x) is float else codipy.Array(x)) for x in args]
                first, second = codipy.rebind(run)(*inputs)
                first, second = codipy.rebind(run)(first, second) if f is spiral else (first * second, second)
                y = tape.register_output((first * second * np.ones(1)).sum())
            tape._check()
            found.append((y.value, *swept(tape, inputs, y), tape))
            tangents = tape.new_adjoints()
            tangents[inputs[0]] = args[0]
            tape.evaluate_forward(adjoints=tangents)
            found[-1] = (*found[-1][:-1], tangents[y])
        for x, y in zip(*found):
            assert np.allclose(x, y, rtol=1e-11, atol=1e-13)
        assert found[0][0] == found[1][0]
        assert part.last.replaced


@pytest.mark.parametrize("width", [2, 3])
@each_strategy
def test_several_directions_of_a_matrix(strategy, width):
    def results(run, reverse):
        tape = codipy.Tape(strategy)
        with tape:
            u, c = tape.register_input(U), tape.register_input(0.3)
            v, s = codipy.rebind(run)(u, c)
            v, s = tape.register_output(v * 1.0), tape.register_output(s * 1.0)
        adjoints = tape.new_adjoints(width=width)
        seeds = np.zeros(width)
        seeds[0] = 1.0
        adjoints[v if reverse else u] = np.cos(np.arange(5 * width)).reshape(5, width) * seeds
        adjoints[s if reverse else c] = np.arange(width) - 1.0
        (tape.evaluate if reverse else tape.evaluate_forward)(adjoints=adjoints)
        return np.vstack([adjoints[u], adjoints[c]] if reverse else [adjoints[v], adjoints[s]])

    for reverse in (True, False):
        assert np.allclose(results(codipy.preaccumulate(waves), reverse), results(waves, reverse), rtol=1e-11)


@each_strategy
def test_what_is_read_without_being_an_argument_is_found(strategy):
    class Model:
        pass

    def loss(x, y):
        model, model.rate, others = (m := Model()), x * y, [x, {"y": y}]
        table = np.zeros(3)
        table[1] = x * 3.0

        def part(n):
            z = y
            for _ in range(n):
                z = z * model.rate + others[1]["y"] * table[1]
            return z

        return codipy.preaccumulate(part)(12) * m.rate

    expected = codipy.grad(lambda x, y: loss_by_steps(x, y), (0, 1))(0.7, 0.5)
    assert np.allclose(codipy.grad(loss, (0, 1), strategy=strategy)(0.7, 0.5), expected, rtol=1e-12)


def loss_by_steps(x, y):
    z, rate = y, x * y
    for _ in range(12):
        z = z * rate + y * (x * 3.0)
    return z * rate


def test_a_zero_flow_meets_an_infinite_partial():
    def part(u):
        for _ in range(40):
            u = u * 1.0
        return np.sqrt(u[:1]), u[1:] * 2.0

    def loss(u):
        roots, rest = codipy.preaccumulate(part)(u)
        return rest.sum() + 0.0 * roots.sum()

    assert codipy.grad(loss)(np.array([0.0, 2.0])).tolist() == [0.0, 2.0]
    assert codipy.jvp(loss, (np.array([0.0, 2.0]),), (np.array([0.0, 1.0]),))[1] == 2.0


# ---- What stays on the tape ------------------------------------------------------------------------------------------
@each_pair()
def test_one_statement_for_each_number(variant):
    tape = new_tape(variant)
    with tape:
        x, y = tape.register_input(0.9), tape.register_input(0.4)
        before = tape.statements, streams(tape)
        part = codipy.preaccumulate(spiral)
        u, v = part(x, y)
        assert tape.statements - before[0] == 2
        assert part.last[:4] == (True, "", 2, 2)
        if kind_of(variant[0]) == "jacobian":
            assert streams(tape) - before[1] == part.last.kept + 8 * variant[0].endswith("reuse") == (
                50 + 8 * variant[0].endswith("reuse"))
        tape.register_output(u + v)
    tape._check()


def test_the_bytes_of_the_steps_are_those_that_a_jacobian_tape_takes():
    for f, args in ((spiral, (0.9, 0.4)), (lambda x, y: x * y + x * x, (2.0, 3.0))):
        tape, part = codipy.Tape("jacobian"), codipy.preaccumulate(f)
        with tape:
            inputs = [tape.register_input(x) for x in args]
            before = streams(tape)
            found = codipy.rebind(f)(*inputs)
            for y in found if isinstance(found, tuple) else (found,):
                tape.register_output(y)
            copies = 13 * len(found) if isinstance(found, tuple) else 13
            steps = streams(tape) - before - copies
            part(*inputs)
        assert part.last.recorded == steps


def test_the_count_of_a_prediction_is_that_of_the_tape():
    def loss(x, y):
        u, c = np.array([x, y, x * y]), x
        for _ in range(3):
            x, y = codipy.preaccumulate(spiral)(x, y)
        u, c = codipy.preaccumulate(waves)(u, c)
        return x * y + u.sum() * c

    for row in codipy.predict(lambda p: loss(*p), [0.5, 0.3], granularities=["statement"]).rows:
        if row.strategy != "forward":
            tape = codipy.Tape(row.strategy, row.granularity)
            with tape:
                tape.register_output(codipy.rebind(loss)(tape.register_input(0.5), tape.register_input(0.3)))
            used = {title: used for title, used in row.streams.items() if title != "primal values"}
            assert sum(used.values()) - row.arrays == streams(tape)
            assert row.statements == tape.statements


def test_a_jacobian_that_is_larger_than_the_steps_is_not_taken_and_nothing_runs_twice():
    runs = []

    def part(u, c):
        runs.append(1)
        return u * c, np.exp(u) + c

    u, part_of = np.linspace(0.0, 1.0, 500), codipy.preaccumulate(part)

    def loss(u, c):
        v, w = part_of(u, c)
        return (v * w).sum()

    for strategy, _ in VARIANTS:
        runs.clear()
        value, (by_u, by_c) = codipy.value_and_grad(loss, (0, 1), strategy=strategy)(u, 0.3)
        assert not part_of.last.replaced
        assert part_of.last.reason == "the Jacobian would take more bytes than the steps"
        assert len(runs) == 1
        assert value == np.sum((u * 0.3) * (np.exp(u) + 0.3))
        assert np.allclose(by_u, 0.3 * (np.exp(u) + 0.3) + u * 0.3 * np.exp(u), rtol=1e-12)
        assert np.isclose(by_c, np.sum(u * (np.exp(u) + 0.3) + u * 0.3), rtol=1e-12)


def test_wide_statements_and_scattered_elements():
    """More variables than a statement has arguments, and elements of an array that do not lie side by side."""
    def wide(xs):
        total = 0.0
        for x in xs:
            for _ in range(6):
                x = math.sin(x) + x
            total = total + x
        return total

    def scattered(u):
        total = u[0]
        for k in (0, 70, 399):
            for _ in range(40):
                total = total * 0.9 + np.sin(u[k])
        return total, np.array([total, total * u[0]])

    def of_wide(x, run=wide):
        return run(x) * 1.0

    def of_scattered(x, run=scattered):
        number, array = run(x)
        return number * array.sum()

    for loss, f, point, columns in ((of_wide, wide, [0.001 * k for k in range(300)], 300),
                                    (of_scattered, scattered, np.linspace(0, 1, 400), 3)):
        part = codipy.preaccumulate(f)
        for strategy in ("auto", "primal-reuse"):
            found = codipy.grad(functools.partial(loss, run=part), strategy=strategy)(point)
            assert np.allclose(found, codipy.grad(loss)(point), rtol=1e-12)
            assert (part.last.replaced, part.last.inputs) == (True, columns)


# ---- What is left elsewhere ------------------------------------------------------------------------------------------
@each_pair()
def test_what_a_function_leaves_elsewhere_raises_when_it_is_used(variant):
    class Holder:
        pass

    holder, kept, plain = Holder(), [], np.zeros(2)

    def by_list(x, w):
        kept.append(x * x)
        return x * 2.0

    def by_attribute(x, w):
        holder.value = x * x
        return x * 2.0

    def by_global_array(x, w):
        plain[0] = x * x
        return x * 2.0

    def by_argument(x, w):
        w[1] = x * x
        return x * w[1]

    def by_whole_argument(x, w):
        w *= x
        return w.sum()

    for f, read in ((by_list, lambda w: kept[-1]), (by_attribute, lambda w: holder.value),
                    (by_global_array, lambda w: plain[0]),
                    (by_argument, lambda w: w[1]), (by_argument, lambda w: w.sum()),
                    (by_whole_argument, lambda w: w[0] * 2.0), (by_whole_argument, lambda w: w.copy() * w)):
        def use(x, part, read=read):
            w = np.zeros(2) + x
            z = part(x, w)
            return z * np.sum(read(w))

        for part in (codipy.preaccumulate(f), codipy.preaccumulate(codipy.preaccumulate(f))):
            use_of = functools.partial(use, part=part)
            with pytest.raises((TapeError, ActiveError), match=r"let that return it|belongs to another|plain array"):
                codipy.grad(use_of, strategy=variant[0], granularity=variant[1])(1.5)
        kept.clear()
        plain[:] = 0.0


def test_the_message_says_to_return_it():
    def loss(x):
        kept = []

        def part(x):
            kept.append(x * x)
            return x * 2.0

        return codipy.preaccumulate(part)(x) + kept[0]

    with pytest.raises(TapeError, match=r"kept\[0\].*given to codipy.preaccumulate computed it, let that return it"):
        codipy.grad(loss)(2.0)


@each_strategy
def test_what_was_there_before_is_what_it_was(strategy):
    """Variables that a function read, and gave back untouched, stay those of the caller, with all that shares them."""
    def part(u, k):
        return u, u[1:] * k, u[1], k

    def loss(u):
        k = u[0] * 2.0
        same, scaled, element, number = codipy.preaccumulate(part)(u, k)
        assert same is u
        assert element == u[1]
        assert type(number) is type(k)
        same[0] = 5.0
        return (u * u).sum() + (scaled * element).sum() * number

    def by_steps(u):
        k = u[0] * 2.0
        return 25.0 + (u[1:] * u[1:]).sum() + (u[1:] * k * u[1]).sum() * k

    found = codipy.value_and_grad(loss, strategy=strategy)(U.copy())
    expected = codipy.value_and_grad(by_steps)(U.copy())
    assert np.allclose(found[0], expected[0], rtol=1e-14)
    assert np.allclose(found[1], expected[1], rtol=1e-12)


@dataclasses.dataclass
class Kept:
    array: object
    number: float = 0.0

    def __call__(self, u):
        self.array[:] = u[:3] * u[3]
        self.number = u[0] * self.array[1]
        return self


def filled_array(u, w):
    w[:] = u[:3] * u[3]
    return w


def filled_view(u, w):
    w[:] = u[1:4] * u[3]
    return w.reshape(3, 1)


def filled_dict():
    kept = {"in a list": [None, None]}

    def f(u, w):
        w[0] = w[0] * u[1]
        kept["in a list"][:] = [w, u[2] * u[3]]
        return kept, u[4] * 2.0

    return f


OBJECTS = {
    "array": (filled_array, lambda u: u.sum()),
    "view": (filled_view, lambda u: u.sum()),
    "part": (lambda u, w: filled_view(u, w)[1:], lambda u: u.sum()),
    "read-only": (lambda u, w: np.broadcast_to(filled_array(u, w), (2, 3)), lambda u: u.sum()),
    "dict": (filled_dict(), lambda u: u[0]["in a list"][0].sum() * u[0]["in a list"][1] + u[1]),
    "dataclass": (lambda u, w: Kept(w)(u), lambda u: u.array.sum() * u.number),
    "argument": (lambda u, w: w, lambda u: u.sum()),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_results_are_in_the_objects_that_others_have(name):
    f, number = OBJECTS[name]

    def loss(u, part):
        w = np.zeros(3)
        w[:] = 1.0
        first = part(u, w)
        before = number(first)
        second = part(u * 2.0, w)      # fills what `first` is
        return before + number(first) * number(second) + w.sum() * u[1] ** 2

    expected = codipy.value_and_grad(lambda u: loss(u, f))(U)
    found = codipy.value_and_grad(lambda u: loss(u, codipy.preaccumulate(f)))(U)
    assert found[0] == loss(U, f) == expected[0]
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_a_read_only_result_that_others_have_is_refused():
    kept = []

    @codipy.preaccumulate
    def locked(u):
        kept.append(np.sin(u))
        kept[0].flags.writeable = False
        return kept[0]

    with pytest.raises(TapeError, match=r"locked returned an array that is read-only.*a\.copy\(\)"):
        codipy.grad(lambda u: locked(u).sum())(U)


def test_results_that_share_memory_share_it_and_one_result_twice_is_one():
    def views(u):
        v = np.sin(u)
        return v, v[1:]

    def copies(u):
        v = np.sin(u)
        return v, v.copy(), v[:0]

    def same(u):
        v = np.sin(u)
        for _ in range(30):
            v = v * 1.1
        return {"a": v, "b": [v]}

    def written(u, part):
        v, rest = part(u)
        rest[0] = u[3] ** 2
        return (v * u).sum() * rest[1]

    found = codipy.grad(lambda u: written(u, codipy.preaccumulate(views)))(U)
    assert np.allclose(found, codipy.grad(lambda u: written(u, views))(U), rtol=1e-13)
    found = codipy.grad(lambda u: (codipy.preaccumulate(copies)(u)[0] * codipy.preaccumulate(copies)(u)[1]).sum())(U)
    assert np.allclose(found, np.sin(2.0 * U))

    def loss(u):
        found = codipy.preaccumulate(same)(u)
        assert found["a"] is found["b"][0]
        found["a"][0] = 1.0
        return found["b"][0].sum()

    assert codipy.grad(loss)(U)[0] == 0.0


@each_strategy
def test_an_error_inside_leaves_the_tape_as_it_was(strategy):
    tape = codipy.Tape(strategy, chunk_size=4)
    with tape:
        x, u = tape.register_input(3.0), tape.register_input(U)
        before = tape.statements, streams(tape)

        @codipy.preaccumulate
        def part(x, u):
            u[0] = x * x
            raise KeyError("in the middle")

        with pytest.raises(KeyError, match="in the middle"):
            part(x, u * 1.0)
        with pytest.raises(TypeError, match="must return real numbers and arrays.*NoneType"):
            codipy.preaccumulate(lambda x: None)(x)
        assert codipy.active_tape() is tape
        assert (tape.statements - before[0], streams(tape) - before[1]) in ((0, 0), (1, 0))      # u * 1.0, which waited
        y = tape.register_output(x * 2.0 + u.sum())
    assert swept(tape, [x], y) == [2.0]
    assert u.gradient.tolist() == [1.0] * 5
    tape._check()


# ---- Where it stays as it is -----------------------------------------------------------------------------------------
def test_derivatives_of_any_order_are_those_of_the_steps():
    part = codipy.preaccumulate(spiral)

    def loss(p, run=part):
        x, y = run(p[0], p[1], 5)
        return x * y

    def by_steps(p):
        return loss(p, spiral)

    p = np.array([0.9, 0.4])
    for drive in (codipy.hessian, lambda f: codipy.jacobian(codipy.grad(f)),
                  lambda f: lambda p: codipy.hvp(f, (p,), (p,))):
        assert np.allclose(drive(loss)(p), drive(by_steps)(p), rtol=1e-10)
        assert not part.last.replaced
        assert "differentiated" in part.last.reason
    assert np.allclose(codipy.taylor(loss, p, p, 3), codipy.taylor(by_steps, p, p, 3), rtol=1e-10)
    assert np.allclose(codipy.jvp(loss, (p,), (p,))[1], codipy.jvp(by_steps, (p,), (p,))[1], rtol=1e-12)
    assert "forward" in part.last.reason
    pattern = codipy.sparsity(lambda u: codipy.preaccumulate(lambda v: v * v)(u), np.zeros(3))
    assert pattern.toarray().tolist() == np.eye(3, dtype=bool).tolist()
    codipy.check_derivatives(loss, p)


def test_inside_of_another_the_inner_one_is_part_of_it():
    inner = codipy.preaccumulate(spiral)
    outer = codipy.preaccumulate(lambda x, y: inner(*inner(x, y)))
    found = codipy.grad(lambda x, y: math.prod(outer(x, y)), (0, 1))(0.9, 0.4)
    assert np.allclose(found, codipy.grad(lambda x, y: math.prod(spiral(*spiral(x, y))), (0, 1))(0.9, 0.4), rtol=1e-12)
    assert outer.last.replaced
    assert not inner.last.replaced


def test_a_derivative_inside_of_it():
    part = codipy.preaccumulate(lambda x: codipy.grad(lambda y: x * math.sin(y) ** 2)(x))
    expected = 2.0 * math.sin(0.7) * math.cos(0.7) + 0.7 * 2.0 * math.cos(1.4)
    assert math.isclose(codipy.grad(part)(0.7), expected, rel_tol=1e-12)


@each_as_values
def test_a_replay_is_refused(strategy):
    for part, x in ((codipy.preaccumulate(lambda x: spiral(x, x)[0]), 0.8), (codipy.preaccumulate(waves), U)):
        tape = codipy.Tape(strategy)
        with tape:
            x = tape.register_input(x)
            found = part(x) if type(x) is codipy.Real else part(x, 0.3)[1]
            tape.register_output(found * 1.0)
        tape.set_primal(x, codipy.value(x) * 1.0)
        with pytest.raises(TapeError, match="record again"):
            tape.evaluate_primal()


def test_statements_made_by_hand_inside_of_it():
    """Their derivatives are numbers, so that the steps cannot be repeated: the Jacobian stays, whatever it takes."""
    def part(x):
        return codipy.active_tape().push_statement(codipy.value(x) ** 2, [x], [2.0 * codipy.value(x)])

    by_hand = codipy.preaccumulate(part)
    assert codipy.grad(lambda x: by_hand(x) * x)(3.0) == 27.0
    assert by_hand.last.replaced


# ---- As a function ---------------------------------------------------------------------------------------------------
def module_level(x):
    """A docstring."""
    return x * x


decorated = codipy.preaccumulate(module_level)


def test_it_passes_for_the_function():
    assert decorated(3) == 9
    assert type(decorated(3)) is int
    assert decorated.__doc__ == "A docstring."
    assert pickle.loads(pickle.dumps(decorated))(2.0) == 4.0
    with pytest.raises(TypeError, match=r"codipy\.preaccumulate\(f\)\(x\)|preaccumulate\(f\)\(x\)"):
        codipy.preaccumulate(3.0)

    class Model:
        factor = 3.0

        @codipy.preaccumulate
        def scaled(self, x):
            for _ in range(9):
                x = x * self.factor
            return x

    assert codipy.grad(Model().scaled)(1.0) == 3.0**9
    with codipy.Tape(), codipy.passive():
        assert decorated(2.0) == 4.0


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_results_are_the_numbers_of_the_plain_run(kind):
    kinds = []

    def part(x):
        for _ in range(9):
            x = x * x / x
        return x, 1, [np.float32(2.0)]

    def loss(x):
        found = codipy.preaccumulate(part)(x)
        kinds.append(type(found[0] + kind(1.0)) if found[0].__class__ is codipy.Real else found[0].__class__)
        assert found[1:] == (1, [2.0])
        return found[0]

    codipy.grad(loss)(kind(3.0))
    assert kinds == [kind]
    array = np.array([1.0, 2.0], np.float32)
    dtypes = []

    def of_arrays(u):
        v, s = codipy.preaccumulate(waves)(u, np.float32(0.5))
        dtypes.extend([v.dtype, s.dtype])
        return s

    assert codipy.grad(of_arrays)(array).dtype == np.float32
    assert dtypes == [np.float32] * 2
