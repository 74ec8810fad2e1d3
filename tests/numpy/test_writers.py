# SPDX-License-Identifier: Apache-2.0
"""Functions that write: recorded into an Array, an error into a plain array; views write through; `out=`."""

import numpy as np
import pytest

import codipy
from codipy.active.array import Array, is_active
from codipy.errors import ActiveError
from tests.numpy.newer import runs
from tests.numpy.table import weights_for

VALUES = {
    "x": np.array([1.5, -0.5, 2.5]),
    "m": np.arange(12.0).reshape(3, 4) / 5.3,
    "y": np.array([0.3, 0.9, 1.1, 2.0]),
}

WRITERS = {
    "copyto": ["np.copyto(m, y)", "np.copyto(m, 3.0)", "np.copyto(m, y, where=m > 1)",
               "np.copyto(m, y, where=[0, 0, 2, 1])", "np.copyto(m, 3.0, where=((1,), (0,), (1,)))",
               "np.copyto(m, y, where=0)"],
    "put": ["np.put(m, [0, 5, -1], x)", "np.put(m, [1, 20], x[:2], mode='wrap')", "np.put(m, [1, 20], x, 'clip')",
            "np.put(m, [2, 3, 4, 5], x[:2])"],
    "place": ["np.place(m, m > 1, x)", "np.place(m, m > 1, x[:1])"],
    "putmask": ["np.putmask(m, m > 1, y)", "np.putmask(m, m < 1, m * 2)"],
    "fill_diagonal": ["np.fill_diagonal(m, x)", "np.fill_diagonal(m, 2.0)", "np.fill_diagonal(m[:, :3], x[0])"],
    "put_along_axis": ["np.put_along_axis(m, np.array([[1], [0], [3]]), x[:, None], 1)",
                       "np.put_along_axis(m, np.array([[2, 1, 0, 0]]), y[None], axis=0)"],
    "out": ["np.multiply(m, 2.0, out=m)", "np.add(m, y, out=m, where=m > 1)", "np.cumsum(m, axis=0, out=m)",
            "np.negative(y, out=y, where=[1, 0, 1, 0])",
            "np.exp(y, out=y)", "np.clip(m, x[0], None, out=m)", "np.sum(m, axis=0, out=y)",
            "np.take(m, [0, 2], 0, out=m[1:])",
            "np.concatenate((x, x[:1]), out=y)", "np.max(m, axis=0, out=y)", "np.matmul(m, m.T, out=m[:, :3])"],
    "at": ["np.add.at(x, [0, 0, 1], y[:3])", "np.multiply.at(x, [2, 2, 2, 0], y)", "np.negative.at(x, [0, 1])",
           "np.add.at(m, (slice(None), [0, 0]), 1.0)", "np.maximum.at(m, ([0, 1], [1, 1]), y[:2])"],
    "views": ["np.reshape(m, -1)[:3].__setitem__(slice(None), x)", "np.transpose(m)[0].__setitem__(slice(None), x)",
              "np.split(m, 2, axis=1)[1].__setitem__(0, x[0])", "np.flip(m)[0].__setitem__(slice(None), y)",
              "np.squeeze(m[:1])[1:].__setitem__(slice(None), x)", "np.atleast_2d(x)[0, 0:1].__setitem__(0, y[0])",
              "np.moveaxis(m, 0, 1)[1].__setitem__(slice(None), x)", "np.rot90(m)[0].__setitem__(slice(None), x)",
              "np.swapaxes(m, 0, 1)[2].__setitem__(slice(None), x)", "np.ravel(m)[5:8].__setitem__(slice(None), x)",
              "np.expand_dims(x, 0)[0].__setitem__(slice(None), y[:3])", "np.unstack(m)[1].__setitem__(slice(None), y)",
              "np.real(m)[0].__setitem__(slice(None), y)", "np.fliplr(m)[0].__setitem__(slice(None), y)"],
    "sort": ["x.sort()", "m.sort(axis=0)", "m.partition(1)"],
}  # fmt: skip
PROGRAMS = [text for texts in WRITERS.values() for text in texts if runs(text)]


def run(text, values):
    """Execute, and return a smooth function of everything."""
    eval(text, {"np": np, **values})
    return [values[name] * (1.0 + values[name]) for name in sorted(values)]


@pytest.mark.parametrize("text", PROGRAMS)
def test_writing_into_an_array_is_recorded(text):
    expected = run(text, {name: value.copy() for name, value in VALUES.items()})
    weights = weights_for(expected)
    tape = codipy.Tape()
    with tape:
        active = {name: tape.register_input(value) for name, value in VALUES.items()}
        copies = {name: x.copy() for name, x in active.items()}
        found = run(text, copies)
        for y in found:
            if is_active(y):
                tape.register_output(y)
    for y, value, weight in zip(found, expected, weights):
        assert np.array_equal(y.value if type(y) is Array else y, value)
        if is_active(y):
            y.gradient = weight
    tape.evaluate()
    for name, value in VALUES.items():
        for index in np.ndindex(value.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = {key: one.copy() for key, one in VALUES.items()}
                moved[name][index] += step
                sides.append(sum(np.sum(y * w) for y, w in zip(run(text, moved), weights)))
            slope = (sides[0] - sides[1]) / 2e-6
            assert active[name].gradient[index] == pytest.approx(slope, rel=2e-5, abs=1e-6), (text, name, index)


@pytest.mark.parametrize("text", [text for kind in ("copyto", "put", "place", "putmask",
"at") for text in WRITERS[kind]])
def test_a_passive_array_can_be_filled(text):
    """The array that is written to is passive before."""
    tape = codipy.Tape()
    with tape:
        active = {name: tape.register_input(value) for name, value in VALUES.items()}
        target = "x" if text.startswith(("np.add.at(x", "np.multiply.at(x", "np.negative")) else "m"
        values = {**active, target: Array(VALUES[target])}
        eval(text, {"np": np, **values})
    plain = {name: value.copy() for name, value in VALUES.items()}
    eval(text, {"np": np, **plain})
    assert np.array_equal(values[target].value, plain[target])


INTO_PLAIN = [
    "np.copyto(plain, x)", "np.copyto(plain, x[0])", "np.put(plain, [0], x)", "np.place(plain, plain > 0, x)",
    "np.putmask(plain, plain > 0, x)", "np.put_along_axis(plain, np.array([0]), x[:1], 0)", "np.add(x, 1.0, out=plain)",
    "np.fill_diagonal(square, x)", "np.add.at(plain, [0], x[:1])", "np.cumsum(x, out=plain)",
    "np.full_like(plain, x[0])",
    "np.concatenate((x,), out=plain)", "np.clip(x, 0, 2, out=plain)", "np.add.reduce(square * x, out=plain)",
]  # fmt: skip


@pytest.mark.parametrize("text", INTO_PLAIN)
def test_writing_into_a_plain_array_is_an_error(text):
    names = {"np": np, "plain": np.ones(3), "square": np.ones((3, 3))}
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(VALUES["x"])
        with pytest.raises(ActiveError, match="would lose"):
            eval(text, {**names, "x": x})
        with codipy.passive():
            eval(text, {**names, "x": x})


def test_out_is_returned():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(VALUES["x"])
        y = Array(np.zeros(3))
        assert np.multiply(x, 2.0, out=y) is y
        assert np.cumsum(x, out=y) is y
        assert np.sort(x, axis=0) is not y
        with pytest.raises(ValueError, match="shape"):
            np.cumsum(x, out=Array(np.zeros(2)))


@pytest.mark.parametrize("text", [
    "np.nan_to_num(a, copy=False)", "np.nan_to_num(a, False, 0.25)", "np.median(a, overwrite_input=True)",
    "np.nanmedian(a, 0, overwrite_input=True)", "np.percentile(a, 30, overwrite_input=True)",
    "np.quantile(a, [0.1, 0.7], overwrite_input=True)", "np.nanquantile(a, 0.3, overwrite_input=True)",
])  # fmt: skip
def test_what_may_write_into_its_argument(text):
    def f(x, passive):
        a = np.array([0.5, np.nan if "nan" in text else 1.5, 0.75]) if passive else x * 1.0
        y = eval(text)
        return np.sum(y) * x[0] + (a[1] if "copy" in text or "False" in text else 0.0)

    x = np.array([1.5, 0.25, 0.75])
    for passive in (True, False):
        value, gradient = codipy.value_and_grad(f)(x, passive)
        assert value == f(x, passive)
        slopes = [(f(x + h, passive) - f(x - h, passive)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


def test_fromfile(tmp_path):
    np.array([1.0, 2.0]).tofile(tmp_path / "numbers")
    found = np.fromfile(tmp_path / "numbers", like=Array([0.0]))
    assert isinstance(found, Array)
    assert found.value.tolist() == [1.0, 2.0]


def test_an_array_made_like_another_can_be_filled():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(VALUES["x"])
        y = np.empty_like(x)
        y[:] = 0.0
        y[1:] = x[1:] ** 2
        tape.register_output(y)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [0.0, -1.0, 5.0]


@pytest.mark.parametrize(
    "text",
    ["np.where(x > 100, x, 0.0)", "np.concatenate((p, p))", "np.exp(p)", "np.add.outer(p, p)[0]", "np.tile(p, 3)",
     "np.cumsum(p)", "np.clip(x, 7.0, 8.0)", "np.sort(p)", "np.ones_like(p)", "np.broadcast_arrays(p, p)[0]"],
)  # fmt: skip
def test_what_is_made_of_arrays_can_be_filled_while_a_tape_records(text):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(VALUES["x"])
        y = eval(text, {"np": np, "x": x, "p": Array([3.0, 4.0])})
        y[-1] = x[0] ** 2
        tape.register_output(y)
        with codipy.passive():
            assert not is_active(eval(text, {"np": np, "x": x, "p": Array([3.0, 4.0])}))
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [3.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "write",
    [lambda a, x: np.place(a, True, [x, x * x]), lambda a, x: np.place(a, np.bool_(False), x),
     lambda a, x: np.put(a, [0], x), lambda a, x: np.put(a, [0, 0, 0], np.stack([x, x * x])),
     lambda a, x: np.putmask(a, True, x), lambda a, x: np.copyto(a, x), lambda a, x: np.copyto(a, x, where=np.True_)],
)  # fmt: skip
def test_into_an_array_without_dimensions(write):
    def f(x):
        a = np.zeros(())
        write(a, x)
        return a[()] * x

    x = np.float64(2.0)
    value, slope = codipy.value_and_grad(f)(x)
    assert value == f(x)
    assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, abs=1e-8)


OVERLAPS = [
    "[0, 0, 1]|z[:3]", "[2, 1, 0]|z[:3]", "[0, 0, 1]|z[1:]", "slice(1, 4)|z[:3]", "[3, 3, 3]|z[3]",
    "[0, 1, 2, 3]|z[::-1]",
]  # fmt: skip
UFUNCS = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.power, np.hypot]


@pytest.mark.parametrize("text", OVERLAPS)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=str)
@pytest.mark.parametrize("factor", [1.0, 1.0 + 0.5j], ids=["real", "complex"])
def test_at_reads_its_operand_before_it_writes(text, ufunc, factor):
    if ufunc is np.hypot and factor != 1.0 or ufunc is np.maximum and factor != 1.0:
        pytest.skip("NumPy has no derivative or no loop for it")
    index, operand = (eval(f"lambda z: {part}") for part in text.split("|"))

    def f(x):
        z = x * factor
        ufunc.at(z, index(z), operand(z))
        return z

    x = np.array([0.3, 0.5, 1.1, 0.4])
    assert codipy.vjp(f, x)[0].tobytes() == f(x).tobytes()
    found, slopes = codipy.jvp(lambda x: np.abs(f(x)), (x,), (x,))
    assert np.array_equal(found, np.abs(f(x)))
    h = 1e-6
    assert slopes == pytest.approx((np.abs(f(x + h * x)) - np.abs(f(x - h * x))) / (2 * h), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("text", [
    "np.copyto(y, 3.0, where=np.array([0, 1, 0, 0]))", "np.copyto(m, y, where=y)", "np.place(y, [True], x)",
    "np.place(m, m[0] > 0, x)", "np.putmask(y, True, x)", "np.putmask(m, m[:, :1] > 0, x)",
])  # fmt: skip
def test_masks_that_numpy_refuses_are_refused(text):
    with pytest.raises((TypeError, ValueError)) as plain:
        run(text, {name: value.copy() for name, value in VALUES.items()})
    with codipy.Tape() as tape, pytest.raises(plain.type, match=str(plain.value).split(" array")[0].split(":")[-1]):
        run(text, {name: tape.register_input(value).copy() for name, value in VALUES.items()})
