# SPDX-License-Identifier: Apache-2.0
"""Values bit for bit NumPy's and gradients at odd layouts, dtypes, infinities, signed zeros and broadcasts."""

import numpy as np
import pytest

import codipy
from tests.active.recording import assert_close, each_variant, new_tape

BASE = np.arange(1.0, 25.0).reshape(4, 6)


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def unaligned(a):
    raw = np.empty(a.nbytes + 1, np.uint8)
    moved = raw[1:].view(a.dtype).reshape(a.shape)
    moved[...] = a
    assert not moved.flags.aligned
    return moved


LAYOUTS = {
    "contiguous": lambda: BASE.copy(),
    "Fortran": lambda: np.asfortranarray(BASE),
    "transposed": lambda: BASE.T,
    "steps": lambda: BASE[::2, ::3],
    "negative": lambda: BASE[::-1, ::-2],
    "broadcast": lambda: np.broadcast_to(BASE[0], (3, 6)),
    "read-only": lambda: read_only(BASE),
    "unaligned": lambda: unaligned(BASE),
    "big-endian": lambda: BASE.astype(">f8"),
    "int": lambda: BASE.astype(int),
    "int8": lambda: BASE.astype(np.int8)[:, ::2],
    "bool": lambda: BASE > 7.0,
    "empty": lambda: BASE[:0],
    "column": lambda: BASE[:, 1:2],
}


@pytest.mark.parametrize("name", LAYOUTS)
@each_variant
def test_inputs_and_operands_of_every_layout(name, variant):
    given = LAYOUTS[name]()
    before = given.copy()
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(codipy.Array(given))
        assert x.shape == given.shape and x.dtype == np.float64
        u = x * given
        u[...] = u + given      # a plain array on the right
        x *= 2.0                # the caller's array is not written to
        y = tape.register_output(u.T * 1.0)
    assert np.array_equal(given, before)
    wide = given.astype(float)
    assert np.array_equal(y.value, (wide * wide + wide).T)
    if y.size:
        y.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient], [wide])


@pytest.mark.parametrize("dtype", [np.float16, object, "U3", np.longdouble, "datetime64[s]"])
def test_dtypes_that_have_no_derivative(dtype):
    with pytest.raises(TypeError), codipy.Tape() as tape:
        tape.register_input(np.ones(3).astype(int).astype(dtype))


@each_variant
def test_a_choice_hides_infinite_partials(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(np.array([0.0, 4.0, -1.0]))
        with np.errstate(all="ignore"):
            y = tape.register_output(np.where(x > 0.0, np.sqrt(x), 0.0))
    assert y.value.tolist() == [0.0, 2.0, 0.0]
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [0.0, 0.25, 0.0]
    tape.clear_adjoints()
    x.gradient = [0.0, 1.0, 0.0]
    tape.evaluate_forward()
    assert y.gradient.tolist() == [0.0, 0.25, 0.0]


@each_variant
def test_infinite_partials_that_are_asked_for(variant):
    tape = new_tape(variant)
    with tape, np.errstate(all="ignore"):
        x = tape.register_input(np.array([0.0, 1.0, np.inf, np.nan]))
        y = tape.register_output(np.sqrt(x) * 2.0)
        z = tape.register_output(x * 0.0)
    assert np.array_equal(y.value, [0.0, 2.0, np.inf, np.nan], equal_nan=True)
    assert np.array_equal(z.value, [0.0, 0.0, np.nan, np.nan], equal_nan=True)
    y.gradient = 1.0
    tape.evaluate()
    assert np.array_equal(x.gradient, [np.inf, 1.0, 0.0, np.nan], equal_nan=True)
    tape.clear_adjoints()
    y.gradient = [0.0, 1.0, 1.0, 0.0]       # a zero adjoint propagates nothing
    tape.evaluate()
    assert x.gradient.tolist() == [0.0, 1.0, 0.0, 0.0]


@each_variant
def test_signs_of_zeros_and_denormals_are_values_of_numpy(variant):
    given = np.array([-0.0, 0.0, 5e-324, -2.2e-308, 1e308])
    tape = new_tape(variant)
    with tape, np.errstate(all="ignore"):
        x = tape.register_input(given.copy())
        results = [(f(x), f(given)) for f in (
            lambda a: a * -1.0, lambda a: -a, lambda a: a + 0.0, lambda a: a * 0.5, lambda a: a * 10.0,
            lambda a: a[::-1] - a,
            np.square, np.sqrt, np.sin, lambda a: np.maximum(a, 0.0), lambda a: np.minimum(a, a[::-1]),
            lambda a: abs(a),
        )]  # fmt: skip
    for ours, plain in results:
        assert ours.value.tobytes() == plain.tobytes()


@each_variant
def test_large_broadcasts(variant):
    """Sums in the reverse of broadcasts, over more elements than one tile has."""
    rng = np.random.default_rng(0)
    a, u, s = rng.uniform(0.5, 1.5, (50, 70)), rng.uniform(0.5, 1.5, 70), 0.75
    tape = new_tape(variant)
    with tape:
        A, U, S = tape.register_input(a), tape.register_input(u), tape.register_input(s)
        z = np.zeros_like(A)
        z[:] = U * S
        z[:, 0] = S
        z += A[:, :1] * U
        y = tape.register_output(z * A)
    y.gradient = 1.0
    tape.evaluate()
    moved = u * s
    moved[0] = s
    G = moved + a[:, :1] * u
    G[:, 0] += (a * u).sum(axis=1)
    du = (a[:, 1:] * s).sum(axis=0)
    assert_close([A.gradient, U.gradient, [S.gradient]],
                 [G, (a * a[:, :1]).sum(axis=0) + np.r_[0.0, du], [a[:, 0].sum() + (a[:, 1:] * u[1:]).sum()]])
