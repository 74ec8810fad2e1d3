# SPDX-License-Identifier: Apache-2.0
"""What would lose a derivative raises, and leaves arrays and tape whole: doors out, stale arrays, broken statements."""

import copy
import pickle

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.active.recording import assert_close, each_strategy, each_variant, new_tape

START = np.array([0.5, 1.25, 2.0])


def finish(tape, x, expected=None):
    """The tape still differentiates: 2x plus nothing."""
    with tape:
        y = tape.register_output(np.sum(x * x) * 1.0)
    tape.clear_adjoints()
    y.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient], [2.0 * START if expected is None else expected])
    tape._check()


def write(target, index, value):
    target[index] = value


LEAVING = {
    "asarray": lambda a, p: np.asarray(a),
    "array": lambda a, p: np.array(a),
    "float": lambda a, p: float(a[0]),
    "float of 0-d": lambda a, p: float(a[..., 0]),
    "complex": lambda a, p: complex(a[0]),
    "buffer": lambda a, p: memoryview(a),
    "tobytes": lambda a, p: a.tobytes(),
    "ctypes": lambda a, p: a.ctypes,
    "setitem": lambda a, p: write(p, 0, a[0]),
    "setitem slice": lambda a, p: write(p, slice(None), a),
    "setitem list": lambda a, p: write(p, slice(None), [a[0], 1.0, a[1]]),
    "iadd": lambda a, p: p.__iadd__(a),
    "imul": lambda a, p: np.multiply(p, a, out=p),
    "copyto": lambda a, p: np.copyto(p, a),
    "put": lambda a, p: np.put(p, [0, 1], a[:2]),
    "place": lambda a, p: np.place(p, p > 1.0, a[:1]),
    "putmask": lambda a, p: np.putmask(p, p > 1.0, a),
    "full_like": lambda a, p: np.full_like(p, a[0]),
    "fill": lambda a, p: p.fill(a[0]),
    "at": lambda a, p: np.add.at(p, [0], a[0]),
    "flat": lambda a, p: write(p.flat, 0, a[0]),
    "pickle": lambda a, p: pickle.dumps(a),
    "float16": lambda a, p: a.astype(np.float16),
    "math": lambda a, p: __import__("math").sin(a[0]),
    "range": lambda a, p: range(a[0]),
}


@pytest.mark.parametrize("name", LEAVING)
def test_leaving_raises_and_says_so(name):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(START.copy())
        plain = np.array([1.0, 2.0, 3.0])
        with pytest.raises((TypeError, ValueError, BufferError)):      # ValueError: what NumPy makes of it for flat
            LEAVING[name](x * 1.0, plain)
        assert plain.tolist() == [1.0, 2.0, 3.0]
    finish(tape, x)


@pytest.mark.parametrize("name", [name for name in LEAVING if name not in ("buffer", "range", "ctypes")])
def test_leaving_is_plain_inside_passive(name):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(START.copy())
        a = x * 1.0
        with codipy.passive():
            LEAVING[name](a, np.array([1.0, 2.0, 3.0]))
    finish(tape, x)


@each_variant
def test_a_recording_inside_passive(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        u = x * 3.0
        with codipy.passive():
            v = u * u + x
            s = u[0] * 2.0
            assert not v.is_active
            assert not codipy.active.array.is_active(s)
            assert np.array_equal(v.value, START * 3.0 * (START * 3.0) + START)
        y = tape.register_output(u * v)
    y.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient], [3.0 * (9.0 * START**2 + START)])


@each_variant
def test_a_write_inside_passive_leaves_the_other_elements_alone(variant):
    """The element written loses its derivative, as told; the others must not lose theirs in silence."""
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        u, v = x * 3.0, x * 2.0
        with codipy.passive():
            u[0] = 5.0
            v[:2] = 1.0
        y = tape.register_output(u * v)
    y.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient], [[0.0, 3.0, 12.0 * START[2]]])


STALE = {
    "operator": lambda a: a * 2.0,
    "index": lambda a: a[1:] * 1.0,
    "element": lambda a: a[0],
    "write": lambda a: write(a, 0, 1.0),
    "write slice": lambda a: write(a, slice(1), 1.0),
    "in place": lambda a: a.__iadd__(1.0),
    "sum": lambda a: np.sum(a),
    "where": lambda a: np.where(a > 0.0, a, 0.0),
    "right side": lambda a: write(codipy.Array(np.zeros(3)), slice(None), a),
    "matmul": lambda a: a @ a,
    "fancy": lambda a: a[[0, 1]],
}


def make_stale(kind, tape, make):
    """An active Array that is not on the tape any more."""
    other = codipy.Tape()
    if kind == "another tape":
        with other:
            return make(other.register_input(START.copy())), other
    with tape:
        a = make(tape.register_input(START.copy()))
        place = None
    tape.reset(place)
    return a, other


@pytest.mark.parametrize("stored", ["clean", "mixed", "pending", "input"])
@pytest.mark.parametrize("kind", ["another tape", "before a reset"])
@pytest.mark.parametrize("name", STALE)
def test_stale_arrays_raise(name, kind, stored):
    def make(x):
        if stored == "input":
            return x
        a = x * 2.0
        if stored != "pending":
            a[0:1] = x[1:2]
        if stored == "mixed":
            for k in (0, 1, 2):
                a[k] = x[k] * 1.0
        return a

    tape = codipy.Tape("jacobian")
    a, _other = make_stale(kind, tape, make)
    with tape:
        x = tape.register_input(START.copy())
        with pytest.raises(TapeError):
            result = STALE[name](a)
            if isinstance(result, codipy.Array):
                result + x
        assert a.value.shape == (3,)        # values stay readable
    finish(tape, x)


@pytest.mark.parametrize("name", [name for name in STALE if name not in ("index", "right side")])
def test_arrays_after_the_recording_raise(name):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(START.copy())
        a = x * 2.0
        a[1] = x[0]
    with pytest.raises(TapeError):
        result = STALE[name](a)
        if isinstance(result, codipy.Array):
            result.value
    finish(tape, x)


def test_a_pending_expression_used_after_the_reset():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(START.copy())
        pending = x * x + 1.0
        tape.reset()
        with pytest.raises(TapeError):
            pending[1:] = 0.0
        with pytest.raises(TapeError):
            tape.register_output(pending)
        x = tape.register_input(START.copy())
        with pytest.raises(TapeError):
            x + pending
    finish(tape, x)


BROKEN = {
    "shapes of an operator": (ValueError, lambda a: a + np.ones(2)),
    "shapes of a write": (ValueError, lambda a: write(a, slice(None), a[:2])),
    "shapes in place": (ValueError, lambda a: a.__iadd__(np.ones((2, 3)))),
    "index": (IndexError, lambda a: a[3]),
    "index written": (IndexError, lambda a: write(a, 7, a[0])),
    "fancy index written": (IndexError, lambda a: write(a, [0, 9], a[:2])),
    "too many indices": (IndexError, lambda a: a[0, 0]),
    "text": (ValueError, lambda a: write(a, 0, "text")),
    "text in a list": ((TypeError, ValueError), lambda a: write(a, slice(None), [a[0], "text", 1.0])),
    "complex": (TypeError, lambda a: write(a, 0, 1j)),
    "None": (TypeError, lambda a: a + None),
    "object": (TypeError, lambda a: a * object()),
    "reshape": (ValueError, lambda a: a.reshape(2, 2)),
    "delete": (ValueError, lambda a: a.__delitem__(0)),
    "ragged": ((TypeError, ValueError), lambda a: write(a, slice(None), [[a[0]], a[1], 2.0])),
}


@each_strategy
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_statement_changes_nothing(name, variant):
    error, broken = BROKEN[name]
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        a, b = x * 1.0, x * 1.0
        b[1] = x[1] * 1.0
        for target in (a, b):
            records = len(tape.records)
            before = target.value.copy()
            with pytest.raises(error):
                broken(target)
            assert np.array_equal(target.value, before)
            assert len(tape.records) <= records + 2     # packing of what is read is allowed, not more
        y = tape.register_output(a * b)
    y.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient], [2.0 * START])
    tape.reset()
    with tape:
        x = tape.register_input(START.copy())
    finish(tape, x)


@each_strategy
def test_an_exception_ends_the_recording_whole(variant):
    tape = new_tape(variant)
    with pytest.raises(ZeroDivisionError), tape:
        x = tape.register_input(START.copy())
        u = x * x
        u[0] = 1 / 0
    assert not tape.is_active and codipy.active_tape() is None
    finish(tape, x)


def test_an_input_overwritten_is_no_output():
    """One variable cannot show the adjoints of two: the seeds would reach those of the input."""
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(START.copy())
        x[0] = x[1] * 3.0
        view = x[:2]
        for y in (x, view):
            with pytest.raises(TapeError, match="input"):
                tape.register_output(y)
        y = tape.register_output(x.copy())
    y.gradient = [1.0, 0.0, 0.0]
    tape.evaluate()
    assert_close([x.gradient], [[0.0, 3.0, 0.0]])


@each_variant
def test_copies(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        a = x * 2.0
        copies = [a.copy(), copy.copy(a), copy.deepcopy(a), np.copy(a), codipy.Array(a), a[:], +a]
        copies[0][0] = 1.0
        copies[1] *= 2.0
        assert all(c.is_active for c in copies)
        a[:] = 0.0
        assert not copies[5].is_active      # a view, not a copy
        y = tape.register_output(copies[0] * copies[1] + copies[2] * copies[3] * copies[4] + copies[5] + copies[6])
    y.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient], [16.0 * START * [0, 1, 1] + [4.0, 0, 0] + 24.0 * START**2 + 2.0])
    passive = codipy.Array(START)
    assert np.array_equal(pickle.loads(pickle.dumps(passive)).value, START)
    assert np.array_equal(copy.deepcopy(passive).value, START)
    assert np.array_equal(np.asarray(passive), START)


@pytest.mark.parametrize("use", [lambda x, c: x * c, lambda x, c: c @ x], ids=["expression", "primitive"])
@pytest.mark.parametrize("memory", ["bytes", "read-only", "writeable"])
def test_a_plain_array_is_kept_without_a_copy_where_nobody_can_write_to_it(use, memory):
    c = np.array([2.0, 3.0, 4.0])
    frozen = memory == "bytes"
    if frozen:
        c = np.frombuffer(c.tobytes())
    part = c[:]
    if memory == "read-only":       # which its owner can set back
        c.flags.writeable = part.flags.writeable = False
    tape = codipy.Tape(strategy="auto")
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        y = tape.register_output(np.sum(use(x, part)))
    kept = [x for record in tape.records.items for held in record.held if type(held) is tuple for x in held]
    arrays = [k for k in kept if isinstance(k, np.ndarray)]
    assert not arrays or np.shares_memory(arrays[0], c) == frozen
    if not frozen:
        c.flags.writeable = True
        c[:] = 100.0
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [2.0, 3.0, 4.0]


def test_an_empty_view_of_elements_written_one_by_one():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        y = x.copy()
        for k in range(3):
            y[k] = x[k] * x[k]
        empty = y[1:1] * 2.0
        s = tape.register_output(np.sum(np.concatenate([empty, y])))
    assert empty.shape == (0,) and s.value == 14.0
    s.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [2.0, 4.0, 6.0]
