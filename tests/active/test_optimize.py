# SPDX-License-Identifier: Apache-2.0
"""`tape.optimize()`: a new tape with variables of its own, which give the same derivatives, values and replays."""

import numpy as np
import pytest

import codipy
from codipy import math
from codipy.errors import TapeError
from tests.strategies import each_as_values, each_pair, each_strategy, new_tape

U = np.array([[0.3, 0.6, 0.9], [1.1, 0.2, 0.5]])


def program(a, b, u):
    s = a
    for _ in range(20):
        s = math.sin(s) * b + s * s * 0.1 - s * 0.5
        unused = math.exp(-s * s) * u[0, 1]
    w = np.exp(u) * s + u * u
    w = w - np.exp(u) * s * 0.5
    np.cos(w) * unused
    np.sin(w @ w.T)
    return s * s + b * a, w.T @ u[:, 1], w.sum() * s


def recorded(variant, u=U):
    tape = new_tape(variant)
    with tape:
        inputs = [tape.register_input(0.7), tape.register_input(1.2), tape.register_input(codipy.Array(u))]
        outputs = [tape.register_output(y) for y in codipy.rebind(program)(*inputs)]
    return tape, inputs, outputs


def gradients(tape, inputs, outputs):
    tape.clear_adjoints()
    for k, y in enumerate(outputs):
        y.gradient = np.cos(np.arange(y.value.size)).reshape(y.value.shape) if np.ndim(y.value) else 0.5 + k
    tape.evaluate()
    return np.concatenate([np.ravel(x.gradient) for x in inputs])


@each_pair()
@pytest.mark.parametrize("order", ["C", "F"])
def test_gradients_and_tangents(variant, order):
    tape, inputs, outputs = recorded(variant, np.array(U, order=order))
    expected = gradients(tape, inputs, outputs)
    for exact in (True, False):
        found = tape.optimize(inputs, outputs, equal=not exact, merge=not exact)
        small, new, results, saved = found
        assert [type(x) for x in (*new, *results)] == [type(x) for x in (*inputs, *outputs)]
        for x, y in zip((*inputs, *outputs), (*new, *results)):
            assert np.array_equal(x.value, y.value)
        gradient = gradients(small, new, results)
        assert np.array_equal(gradient, expected) if exact else np.allclose(gradient, expected, rtol=1e-12)
        assert saved.dead_statements + saved.dead_records > 0
        along = small.new_adjoints(width=2)
        along[new[2]] = np.stack([np.ones(U.shape), U], axis=-1)
        wide = tape.new_adjoints(width=2)
        wide[inputs[2]] = np.stack([np.ones(U.shape), U], axis=-1)
        small.evaluate_forward(adjoints=along)
        tape.evaluate_forward(adjoints=wide)
        assert all(np.allclose(along[y], wide[z], rtol=1e-12) for y, z in zip(results, outputs))
        small._check()
        assert small.statistics().total.used < tape.statistics().total.used
    # The tape itself is what it was.
    assert np.array_equal(gradients(tape, inputs, outputs), expected)


@each_as_values
def test_values_are_computed_again_at_new_inputs(strategy):
    tape, inputs, outputs = recorded((strategy, None))
    small, new, results, _ = tape.optimize(inputs, outputs)
    for one, variables in ((tape, inputs), (small, new)):
        for x, value in zip(variables, (0.4, 0.9, 1.5 * U)):
            one.set_primal(x, value)
        one.evaluate_primal()
    for y, z in zip(outputs, results):
        assert np.array_equal(tape.get_primal(y), small.get_primal(z))
    assert np.allclose(gradients(small, new, results), gradients(tape, inputs, outputs), rtol=1e-12)
    # Values that a replay computed are those of a tape that is made then.
    small, new, results, _ = tape.optimize(inputs, outputs)
    assert np.allclose(gradients(small, new, results), gradients(tape, inputs, outputs), rtol=1e-12)


@each_strategy
def test_a_chain_of_numbers_is_replayed_where_its_identifiers_serve_again(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x, y = tape.register_input(0.5), tape.register_input(0.9)
        s = x
        for _ in range(500):
            s = math.sin(s) * y + s * x
        z = tape.register_output(s)
    small, (a, b), (c,), saved = tape.optimize([x, y], [z])
    if strategy != "simple":
        assert small.identifiers < 10
        assert small.strategy.endswith("-reuse")
    for one, i, j, k in ((tape, x, y, z), (small, a, b, c)):
        if tape.keeps_values:
            one.set_primal(i, 0.4)
            one.set_primal(j, 0.8)
            one.evaluate_primal()
        k.gradient = 1.0
        one.evaluate()
    assert np.allclose([a.gradient, b.gradient], [x.gradient, y.gradient], rtol=1e-10)
    if tape.keeps_values:
        assert small.get_primal(c) == tape.get_primal(z)


@each_strategy
def test_what_is_recorded_further_comes_behind_it(strategy):
    tape, inputs, outputs = recorded((strategy, None))
    small, (a, b, u), (first, *_), _ = tape.optimize(inputs, outputs)
    with small:
        y = small.register_output(first * a + u[0, 0])
    small._check()
    y.gradient = 1.0
    small.evaluate()
    with tape:
        z = tape.register_output(outputs[0] * inputs[0] + inputs[2][0, 0])
    z.gradient = 1.0
    tape.evaluate()
    for x, other in zip((a, b, u), inputs):
        assert np.allclose(x.gradient, other.gradient, rtol=1e-12)


@each_strategy
def test_kinds_of_outputs(strategy):
    """Passive ones, inputs, one twice, arrays without elements, float32, an element, an input that was written to."""
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(codipy.Array(np.array([1.0, 2.0, 3.0], np.float32)))
        w = tape.register_input(np.array([1.0, 2.0]))
        v = w * 1.0
        w[0] = 5.0
        y, z, none = tape.register_output(x * x), tape.register_output(codipy.Array([4.0])), tape.register_output(x[:0])
        element = tape.register_output(x[1] * 2.0)
        v = tape.register_output(v)
    outputs = [y, z, none, y, x, element, v]
    small, (a, b), results, _ = tape.optimize([x, w], outputs)
    assert results[0].dtype == np.float32
    assert not results[1].is_active
    assert results[2].shape == (0,)
    assert type(results[5].value) is type(element.value)
    results[0].gradient = np.ones(3)
    assert results[3].gradient.tolist() == [1.0] * 3
    results[5].gradient = 1.0
    results[6].gradient = np.ones(2)
    small.evaluate()
    assert a.gradient.tolist() == [2.0, 6.0, 6.0]
    assert b.gradient.tolist() == [1.0, 1.0]
    with pytest.raises(TapeError, match="no gradient any more"):
        results[0].gradient


@each_strategy
def test_the_variables_of_the_new_tape_are_registered_there(strategy, tmp_path):
    tape, inputs, outputs = recorded((strategy, None))
    expected = gradients(tape, inputs, outputs)
    del inputs, outputs
    small, new, results, _ = tape.optimize()
    assert [type(x) for x in (*small.inputs, *small.outputs)] == [type(x) for x in (*new, *results)]
    small.check()
    assert np.allclose(gradients(small, small.inputs, small.outputs), expected, rtol=1e-12)
    small.save(tmp_path / "small.tape")
    loaded = codipy.load_tape(tmp_path / "small.tape")
    assert np.allclose(gradients(loaded, loaded.inputs, loaded.outputs), expected, rtol=1e-12)
    again = loaded.optimize(equal=False, merge=False)
    assert np.allclose(gradients(*again[:3]), expected, rtol=1e-12)
    assert again.saved[:5] == (0, 0, 0, 0, 0)
    few = tape.optimize(outputs=tape.outputs[:1])
    assert len(few.tape.inputs) == 3
    assert len(few.tape.outputs) == 1


def test_what_cannot_be_done_is_said():
    tape, inputs, outputs = recorded(("jacobian", "statement"))
    with pytest.raises(TapeError, match="without outputs would leave nothing"):
        tape.optimize(outputs=[])
    with tape, pytest.raises(TapeError, match="while the tape records"):
        tape.optimize(inputs, outputs)
    with pytest.raises(TypeError, match=r"outputs\[1\] must be a Real or an Array, got float"):
        tape.optimize(inputs, [outputs[0], 1.0])
    with pytest.raises(TapeError, match=r"inputs\[0\] is no input of this tape: register_input\(\) makes one"):
        tape.optimize([outputs[0]], outputs)
    other, strangers, _ = recorded(("jacobian", "statement"))
    with pytest.raises(TapeError, match=r"inputs\[0\]: "):
        tape.optimize(strangers, outputs)
    tape.reset()
    with pytest.raises(TapeError, match=r"inputs\[0\]: .*reset"):
        tape.optimize(inputs, outputs)
    with codipy.Tape(strategy="forward") as forward:
        x = forward.register_input(1.0)
    with pytest.raises(TapeError, match="keeps nothing to sweep over"):
        forward.optimize([x], [x])
    with other:
        u = other.register_input(np.ones(4))
        v = u * 2.0
        w = v + u
        w.sum()
    with pytest.raises(TapeError, match=r"outputs\[0\]: .*register_output"):
        other.optimize([u], [v[::2]])


def test_an_expression_that_never_became_a_statement_is_no_output():
    with codipy.Tape() as tape:
        x = tape.register_input(2.0)
        y = x * x
    with pytest.raises(TapeError, match=r"outputs\[0\]: .*register_output"):
        tape.optimize([x], [y])
