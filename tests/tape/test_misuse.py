# SPDX-License-Identifier: Apache-2.0
"""What bad use gets: an error that names the argument and the fix, and a tape that stays whole and usable."""

import copy
import pickle

import numpy as np
import pytest

import codipy
from codipy.active import FUNCTIONS
from codipy.errors import ActiveError, TapeError
from tests.recording import still_works
from tests.strategies import (
    LINEAR,
    STRATEGIES,
    each_as_jacobians,
    each_as_values,
    each_counting,
    each_pair,
    each_strategy,
)


@pytest.fixture
def tape(request):
    return codipy.Tape(strategy=getattr(request, "param", "jacobian"), chunk_size=4)


every_tape = pytest.mark.parametrize("tape", STRATEGIES, indirect=True)


def uses(tape, x):
    """Every way in which a variable can be used."""
    return {
        "operator": lambda: x * 2.0,
        "reflected": lambda: 2.0 - x,
        "function": lambda: FUNCTIONS["sin"](x),
        "register_output": lambda: tape.register_output(x),
        "push_statement": lambda: tape.push_statement(1.0, [x], [1.0]),
        "gradient": lambda: x.gradient,
        "seed": lambda: setattr(x, "gradient", 1.0),
    }


def all_refused(tape, x, *left_out):
    statements = tape.statements
    with tape:
        for name, use in uses(tape, x).items():
            if name not in left_out:
                with pytest.raises(TapeError):
                    use()
                tape._check()
    assert tape.statements == statements
    still_works(tape)


@every_tape
def test_variables_of_before_a_reset(tape):
    with tape:
        x = tape.register_input(2.0)
        y = FUNCTIONS["sin"](x * x)
        z = tape.register_output(x + 1.0)
    for reset in (tape.reset, tape.reset_hard):
        reset()
        for stale in (x, y, z):
            all_refused(tape, stale)
    assert (x.value, z.value) == (2.0, 3.0)


@every_tape
def test_variables_of_after_a_position(tape):
    with tape:
        x = tape.register_input(2.0)
        pending = x * x
        place = tape.position()
        late = tape.register_input(1.0)
        y = tape.register_output(pending * late)
    tape.reset(place)
    all_refused(tape, y)
    all_refused(tape, late)
    with tape:
        z = tape.register_output(pending + x)
    tape.clear_adjoints()
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 5.0


@every_tape
def test_variables_of_another_tape(tape):
    other = codipy.Tape(strategy=tape.strategy)
    with other:
        x = other.register_input(2.0)
        y = x * 3.0
    all_refused(tape, x, "gradient", "seed")
    all_refused(tape, y, "gradient", "seed")
    with pytest.raises(TapeError, match="another tape|not a variable of this tape"):
        tape.new_adjoints()[x]
    del other
    all_refused(tape, x)
    assert "gone" in repr(x)


@every_tape
def test_variables_while_nothing_records(tape):
    with tape:
        x = tape.register_input(2.0)
    for name, use in uses(tape, x).items():
        if name not in ("gradient", "seed"):
            with pytest.raises(TapeError, match="recording"):
                use()
    still_works(tape)


def test_gradients_of_what_has_none():
    tape = codipy.Tape()
    for x in (codipy.Real(2.0), codipy.Real()):
        with pytest.raises(TapeError, match="register"):
            x.gradient
    with tape:
        x = tape.register_input(2.0)
        pending = x * x
        with pytest.raises(TapeError, match="register_output"):
            pending.gradient
    still_works(tape)


NO_SEEDS = [None, "1", 1j, [1.0], pytest.param(object(), id="object"), codipy.Real(1.0)]


@pytest.mark.parametrize("wrong", NO_SEEDS, ids=repr)
def test_seeds_of_a_wrong_type(tape, wrong):
    with tape:
        x = tape.register_input(2.0)
        with pytest.raises(TypeError, match="seed"):
            x.gradient = wrong
        if not isinstance(wrong, (codipy.Real, complex)):  # these are inputs
            for register in (tape.register_input, tape.register_output):
                with pytest.raises(TypeError, match="Real or a real number"):
                    register(wrong)
    still_works(tape)


def test_statements_made_by_hand(tape):
    with tape:
        x = tape.register_input(2.0)
        with pytest.raises(ValueError, match="same length"):
            tape.push_statement(1.0, [x], [])
        for arguments in (("1", [x], [1.0]), (1.0, ["x"], [1.0]), (1.0, [x], ["1"]), (x, [x], [1.0]), (1.0, [x], [x])):
            with pytest.raises(TypeError, match=r"value|arguments\[0\]|jacobians\[0\]"):
                tape.push_statement(*arguments)
        assert not tape.push_statement(1.0, [3.0, codipy.Real(2.0)], [1.0, 1.0]).is_active
        assert tape.statements == 1
    still_works(tape)


@pytest.mark.parametrize("name", ["strategy", "granularity"])
def test_unknown_names_list_the_valid_ones(name):
    with pytest.raises(ValueError, match="jacobian-reuse|statement"):
        codipy.Tape(**{name: "fast"})
    with pytest.raises(TypeError, match=name):
        codipy.Tape(**{name: 3})


def test_simple_has_no_statements():
    with pytest.raises(ValueError, match="granularity"):
        codipy.Tape(strategy="simple", granularity="statement")


@pytest.mark.parametrize(("size", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), ("4", TypeError)])
@each_strategy
def test_chunk_sizes(strategy, size, error):
    with pytest.raises(error, match="chunk_size"):
        codipy.Tape(strategy=strategy, chunk_size=size)


@every_tape
def test_positions(tape):
    other = codipy.Tape(strategy=tape.strategy)
    with tape:
        x = tape.register_input(2.0)
        early = tape.position()
        y = tape.register_output(x * x)
        late = tape.position()
    foreign = other.position()
    for sweep in (tape.evaluate, tape.evaluate_forward, tape.reset):
        with pytest.raises(TapeError, match="another tape"):
            sweep(foreign)
        with pytest.raises(TypeError, match="position"):
            sweep(3)
    with pytest.raises(TapeError, match="end lies after start"):
        tape.evaluate(early, late)
    with pytest.raises(TapeError, match="end lies before start"):
        tape.evaluate_forward(late, early)
    with pytest.raises(TapeError, match="different tapes"):
        early < foreign
    assert early != foreign
    assert early < late
    tape.reset(early)
    for sweep in (tape.evaluate, tape.evaluate_forward, tape.reset):
        with pytest.raises(TapeError, match="before a reset"):
            sweep(late)
    tape.reset()
    with pytest.raises(TapeError, match="before a reset"):
        tape.reset(early)
    assert y.value == 4.0
    still_works(tape)


@every_tape
def test_adjoints_of_another_tape(tape):
    other = codipy.Tape(strategy=tape.strategy)
    with pytest.raises(TapeError, match="another tape"):
        tape.evaluate(adjoints=other.new_adjoints())
    with pytest.raises(TypeError, match="new_adjoints"):
        tape.evaluate(adjoints=[1.0])
    with pytest.raises(ValueError, match="width"):
        tape.new_adjoints(0)
    with pytest.raises(TypeError, match="width"):
        tape.new_adjoints(1.5)
    still_works(tape)


@each_as_jacobians
def test_evaluate_primal_needs_values(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(2.0)
        tape.register_output(x * x)
    for use in (tape.evaluate_primal, lambda: tape.set_primal(x, 1.0), lambda: tape.get_primal(x)):
        with pytest.raises(TapeError, match="primal"):
            use()
    still_works(tape)


def test_only_inputs_take_new_values():
    tape = codipy.Tape(strategy="primal")
    with tape:
        x = tape.register_input(2.0)
        y = tape.register_output(x * x)
    with pytest.raises(TapeError, match="not an input"):
        tape.set_primal(y, 1.0)
    with pytest.raises(TypeError, match="value"):
        tape.set_primal(x, "1")
    still_works(tape)


@each_counting
def test_keep_needs_linear_identifiers(strategy):
    tape = codipy.Tape(strategy=strategy)
    with pytest.raises(TapeError, match="keep"):
        tape.evaluate(keep=True)
    still_works(tape)


@pytest.mark.parametrize("strategy", LINEAR)
def test_keep_keeps(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(2.0)
        y = tape.register_output(x * 3.0)
        z = tape.register_output(y * 5.0)
    z.gradient = 1.0
    tape.evaluate(keep=True)
    assert (x.gradient, y.gradient, z.gradient) == (15.0, 5.0, 1.0)


@pytest.mark.parametrize("strategy", LINEAR)
def test_keep_is_refused_where_identifiers_of_a_copy_are_set_again(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(np.arange(1.0, 6.0))
        y = x * x
        z = y.copy()
        z[::2] = z[::2] * x[::2]
        total = tape.register_output(np.sum(z * y))
    total.gradient = 1.0
    with pytest.raises(TapeError, match="written in place"):
        tape.evaluate(keep=True)
    tape.evaluate()
    np.testing.assert_array_equal(x.gradient, [5.0, 32.0, 405.0, 256.0, 3125.0])


@each_pair("strategy, granularity")
def test_an_exception_while_recording(strategy, granularity):
    tape = codipy.Tape(strategy=strategy, granularity=granularity)
    for body in (lambda x: 1.0 / (x - x), lambda x: FUNCTIONS["log"](x - 5.0), lambda x: FUNCTIONS["exp"](x * 1e6)):
        with pytest.raises((ZeroDivisionError, ValueError, OverflowError)), tape:
            body(tape.register_input(2.0))
        assert codipy.active_tape() is None
        assert not tape.is_active
        tape._check()
    still_works(tape)


def test_recordings_end_in_reverse_order():
    first, second = codipy.Tape(), codipy.Tape()
    first.set_active()
    second.set_active()
    with pytest.raises(TapeError, match="innermost"):
        first.set_passive()
    second.set_passive()
    first.set_passive()
    with pytest.raises(TapeError, match="innermost"):
        first.set_passive()
    assert codipy.active_tape() is None
    still_works(first)
    still_works(second)


@every_tape
def test_registering_outside_a_recording(tape):
    for use in (tape.register_input, tape.register_output, lambda x: tape.push_statement(x, [], [])):
        with pytest.raises(TapeError, match="recording"):
            use(1.0)
    still_works(tape)


@every_tape
def test_evaluate_while_recording(tape):
    with tape:
        x = tape.register_input(2.0)
        pending = x * x
        y = tape.register_output(pending * 3.0)
        y.gradient = 1.0
        tape.evaluate()
        assert x.gradient == 12.0
        z = tape.register_output(pending + x)
    tape.clear_adjoints()
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 5.0
    tape._check()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@every_tape
def test_seeds_and_values_that_are_not_finite(tape, bad):
    with tape:
        x, y = tape.register_input(bad), tape.register_input(2.0)
        z = tape.register_output(x * y)
        w = tape.register_output(y * 3.0)
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 2.0
    assert repr(y.gradient) == repr(bad)
    tape.clear_adjoints()
    w.gradient = bad
    tape.evaluate()
    assert (x.gradient, repr(y.gradient)) == (0.0, repr(3.0 * bad))
    still_works(tape)


@each_as_values
def test_values_are_known_at_any_time(strategy):
    """Also of results that no statement has used yet, of unused inputs, and when recording goes on after a look."""
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x, late = tape.register_input(3.0), tape.register_input(5.0)
        y = tape.register_output(x * x)
        assert [tape.get_primal(v) for v in (x, late, y)] == [3.0, 5.0, 9.0]
        place = tape.position()
        z = tape.register_output(late * y)
        assert tape.get_primal(z) == 45.0
    for start in (place, None):
        tape.evaluate_primal(start)
        assert [tape.get_primal(v) for v in (x, late, y, z)] == [3.0, 5.0, 9.0, 45.0]
        tape.clear_adjoints()
        z.gradient = 1.0
        tape.evaluate()
        assert (x.gradient, late.gradient) == (30.0, 9.0)
    tape.set_primal(late, 2.0)
    assert [tape.get_primal(v) for v in (late, z)] == [2.0, 45.0]
    tape.evaluate_primal()
    assert [tape.get_primal(v) for v in (y, z)] == [9.0, 18.0]
    tape._check()


def test_tapes_and_profiles_say_what_to_keep_instead_of_a_pickle():
    with codipy.profile() as profile:
        codipy.grad(lambda x: x * x)(2.0)
    for what, words in ((codipy.Tape(), "tape.save"), (profile, "to_json")):
        for action in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=words):
                action(what)


def test_saving_of_what_keeps_nothing_says_save():
    tape = codipy.Tape("forward")
    with tape:
        tape.register_output(tape.register_input(2.0) * 3.0)
    with pytest.raises(TapeError, match=r"^save\(\)"):
        tape.save("unused.tape")


def test_a_name_that_no_file_can_have():
    for path in ("a\0b", b"a\0b"):
        with pytest.raises(ValueError, match="null character"):
            codipy.load_tape(path)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_rule_that_gives_another_number_of_cotangents_is_an_error(count):
    """Compiled code would read beyond the list."""
    rule = codipy.Primitive("short", lambda x, y: x * y, lambda g, out, args, kwargs, argnums: [g] * count, None)

    def f(x):
        return np.sum(codipy.active.array.call(rule, (x, 2.0 * x)))

    with pytest.raises(TapeError, match=f"short: the vjp rule returned {count} cotangents for 2 active arguments"):
        codipy.grad(f)(np.ones(3))


@pytest.mark.parametrize("width", [1, 2])
def test_a_jvp_rule_that_leaves_out_a_result_is_refused(width):
    """The tangent of that result would be what stood there."""
    rules = {"vjp": lambda g, out, args, kwargs, argnums: [g[0]], "jvp": lambda t, out, args, kwargs: (t[0],)}
    if width > 1:
        rules["jvp_batch"] = rules["jvp"]
    short = codipy.Primitive("short", lambda x: (2.0 * x, 3.0 * x), **rules)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0]))
        tape.register_output(codipy.active.array.call(short, (x,))[1])
    tangents = tape.new_adjoints(width)
    tangents[x] = 1.0
    with pytest.raises(TapeError, match="short: the jvp rule returned 1 tangents for 2 results"):
        tape.evaluate_forward(adjoints=tangents)


@pytest.mark.parametrize("rule", ["vjp", "jvp", "vjp_batch", "jvp_batch"])
def test_a_rule_may_not_write_to_what_is_read_again(rule):
    def back(g, out, args, kwargs, argnums):
        g *= 2.0
        return [g]

    def on(tangents, out, args, kwargs):
        tangents[0][...] *= 2.0
        return tangents[0]

    rules = {"vjp": back, "jvp": on, rule: back if rule.startswith("vjp") else on}
    double = codipy.Primitive("double", lambda x: 2.0 * x, **rules)
    tape = codipy.Tape("jacobian")
    with tape:
        x = tape.register_input(np.array([1.0, 2.0]))
        y = tape.register_output(codipy.active.array.call(double, (x,)))
    numbers = tape.new_adjoints(2 if rule.endswith("batch") else 1)
    numbers[x if rule.startswith("jvp") else y] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        if rule.startswith("jvp"):
            tape.evaluate_forward(adjoints=numbers)
        else:
            tape.evaluate(adjoints=numbers, keep=True)


@pytest.mark.parametrize("name", ["var", "std"])
def test_variances_of_complex_arrays_are_not_differentiated_by_ddof(name):
    def f(x):
        z = x * (1.0 + 0.3j)
        return getattr(np, name)(z, ddof=z[2])

    with pytest.raises(ActiveError, match="only the array itself may be active"):
        codipy.grad(f)(np.linspace(0.3, 1.5, 6))
