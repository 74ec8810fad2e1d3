# SPDX-License-Identifier: Apache-2.0
"""scipy.spatial.transform in rebound code: SciPy's bits, derivatives of every order, or a refusal."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError, UndifferentiableError

R, Slerp = (getattr(pytest.importorskip("scipy.spatial.transform"), name) for name in ("Rotation", "Slerp"))

POINT = np.random.default_rng(0).normal(size=16)
MATRIX = R.random(rng=1).as_matrix() if "rng" in R.random.__doc__ else R.random(random_state=1).as_matrix()
BEFORE = R.from_euler("zyx", [0.3, 0.2, -1.0])
TIMES = np.array([0.0, 1.0, 2.5])
BETWEEN = Slerp(TIMES, R.from_rotvec(POINT[:9].reshape(3, 3)))

CASES = {
    "quaternions": lambda p: R.from_quat(p[:4]).as_quat(),
    "number first": lambda p: R.from_quat(p[:8].reshape(2, 4), scalar_first=True).as_quat(scalar_first=True),
    "canonical": lambda p: R.from_quat(-p[:8].reshape(2, 4)).as_quat(canonical=True),
    "constructor": lambda p: R(p[:4]).as_matrix(),
    "any matrix": lambda p: R.from_matrix(np.eye(3) + 0.2 * p[:9].reshape(3, 3)).as_quat(),
    "a rotation matrix": lambda p: R.from_matrix(MATRIX @ R.from_rotvec(p[:3]).as_matrix()).as_rotvec(),
    "half a turn": lambda p: R.from_matrix(R.from_euler("xyz", p[:3] + [3.0, 0.0, 3.0]).as_matrix()).as_quat(),
    "no rotation": lambda p: R.from_rotvec(p[:3] - POINT[:3]).as_quat(),
    "small rotations": lambda p: R.from_rotvec((p[:6] - 0.99 * POINT[:6]).reshape(2, 3)).as_rotvec(),
    "degrees": lambda p: R.from_rotvec(p[:3] * 90, degrees=True).as_rotvec(degrees=True),
    "one angle": lambda p: R.from_euler("z", p[0]).as_matrix(),
    "one angle each": lambda p: R.from_euler("x", p[:4, None]).as_quat(),
    "two angles": lambda p: R.from_euler("xy", p[:4].reshape(2, 2), degrees=True).as_quat(),
    "modified Rodrigues": lambda p: R.from_mrp(p[:6].reshape(2, 3)).as_mrp(),
    "magnitude": lambda p: R.from_mrp(p[:6].reshape(2, 3)).magnitude(),
    "apply": lambda p: R.from_mrp(p[:6].reshape(2, 3)).apply(p[6:12].reshape(2, 3)),
    "apply back": lambda p: R.from_mrp(p[:3]).apply(p[6:12].reshape(2, 3), inverse=True),
    "apply a passive one": lambda p: R.from_euler("xyz", [0.1, 0.2, 0.3]).apply(p[6:12].reshape(2, 3)),
    "apply one from before": lambda p: BEFORE.apply(p[6:9]),
    "products": lambda p: (BEFORE * R.from_rotvec(p[:3]) * BEFORE).as_rotvec(),
    "power": lambda p: (R.from_rotvec(p[:3]) ** 2.5).as_matrix(),
    "power of -1": lambda p: (R.from_rotvec(p[:3]) ** -1).as_matrix(),
    "inverse": lambda p: (R.from_rotvec(p[:3]).inv() * R.from_rotvec(p[3:6])).as_quat(),
    "mean": lambda p: R.from_rotvec(p[:9].reshape(3, 3) * 0.3).mean().as_matrix(),
    "weighted mean": lambda p: R.from_rotvec(p[:9].reshape(3, 3) * 0.3).mean(weights=p[9:12] ** 2).as_matrix(),
    "concatenate": lambda p: R.concatenate([R.from_rotvec(p[:3]), BEFORE])[0].as_quat(),
    "parts": lambda p: sum(r.as_matrix() for r in R.from_rotvec(p[:9].reshape(3, 3))[1:]),
    "Slerp": lambda p: Slerp(TIMES, R.from_rotvec(p[:9].reshape(3, 3)))(np.array([0.0, 0.4, 1.0, 1.7])).as_matrix(),
    "Slerp by time": lambda p: Slerp(TIMES, R.from_rotvec(p[:9].reshape(3, 3)))(p[9] ** 2 * 0.1 + 0.3).as_quat(),
    "Slerp from before": lambda p: BETWEEN(p[9:12] ** 2 * 0.1 + 0.3).as_quat(),
    "Slerp by times": lambda p: Slerp(np.cumsum(p[9:12] ** 2), R.from_rotvec(p[:9].reshape(3, 3)))(
        p[9] ** 2 + 0.3 * p[10] ** 2).as_quat(),
}  # fmt: skip
for _seq in ("xyz", "zyx", "zxz", "XYZ", "ZYZ", "YXZ", "xzy", "XZX", "yxy", "zyz"):
    CASES[f"to angles {_seq}"] = lambda p, seq=_seq: R.from_rotvec(p[:6].reshape(2, 3)).as_euler(seq, degrees=True)
    CASES[f"of angles {_seq}"] = lambda p, seq=_seq: R.from_euler(seq, p[:6].reshape(2, 3)).as_quat()


def number(case):
    def f(p):
        found = case(p)
        return np.sum(found * np.cos(np.arange(np.size(found))).reshape(np.shape(found)) * (1.0 + found))

    return f


def slope(f, direction, h=1e-3):
    """By four differences."""
    near, far = (f(POINT + s * h * direction) - f(POINT - s * h * direction) for s in (1.0, 2.0))
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize("name", CASES)
def test_rotations(name):
    f = number(CASES[name])
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    bound = 1e-8 * max(1.0, np.max(np.abs(gradient)))
    np.testing.assert_allclose(gradient, [slope(f, unit) for unit in np.eye(16)], rtol=1e-8, atol=bound)
    direction = np.sin(np.arange(16) + 1.0)
    assert codipy.jvp(f, (POINT,), (direction,))[1] == pytest.approx(gradient @ direction, rel=1e-10, abs=1e-12)
    (product,) = codipy.hvp(f, (POINT,), (direction,))
    change = slope(codipy.grad(f), direction)
    np.testing.assert_allclose(product, change, rtol=1e-7, atol=1e-7 * max(1.0, np.max(np.abs(product))))


@pytest.mark.parametrize("name", CASES)
def test_at_other_inputs(name):
    tape, f = codipy.Tape("primal"), number(CASES[name])
    with tape:
        p = tape.register_input(POINT.copy())
        y = tape.register_output(codipy.rebind(f)(p))
    tape.set_primal(p, POINT * 1.0003)
    if name == "no rotation":  # an angle that is 0 is on another branch
        return
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(POINT * 1.0003)


@pytest.mark.parametrize("name", ["products", "to angles zxz", "Slerp"])
def test_every_strategy_and_direction(name):
    codipy.check_derivatives(number(CASES[name]), POINT)


@pytest.mark.parametrize("f", [
    lambda p: R.from_rotvec(p * np.ones(3)).as_rotvec()[0], lambda p: R.from_rotvec(p * np.eye(3)[0]).as_mrp()[0],
    lambda p: R.from_matrix(R.from_rotvec(p * np.eye(3)[0]).as_matrix()).as_quat()[0],
])  # fmt: skip
def test_a_replay_on_another_branch_raises(f):
    tape = codipy.Tape("primal")
    with tape:
        p = tape.register_input(1.0)
        tape.register_output(codipy.rebind(f)(p))
    tape.set_primal(p, 3.5)
    with pytest.raises(TapeError):
        tape.evaluate_primal()


def test_a_canonical_quaternion_is_decided_by_its_sign_alone():
    def f(v):
        return R.from_rotvec(v).as_quat(canonical=True).sum()

    tape, other = codipy.Tape("primal"), np.array([-0.3, 0.2, 0.1])
    with tape:
        v = tape.register_input(np.array([0.3, 0.2, 0.1]))
        y = tape.register_output(codipy.rebind(f)(v))
    tape.set_primal(v, other)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(other)


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize("refused, text", [
    (lambda p: R.from_euler("xyz", np.array([0.3, np.pi / 2, 0.2]) + 0.0 * p[:3]).as_euler("xyz"), "gimbal lock"),
    (lambda p: R.align_vectors(p[:6].reshape(2, 3), np.eye(3)[:2])[0].as_quat(), "align_vectors"),
    (lambda p: R.from_rotvec(p[:3]).reduce().as_quat(), "reduce"),
    (lambda p: (BEFORE ** p[0]).as_quat(), "from_rotvec"),
])  # fmt: skip
def test_what_has_no_derivative_says_so(refused, text):
    with pytest.raises((ActiveError, UndifferentiableError), match=text):
        codipy.grad(lambda p: np.sum(refused(p)))(POINT)


def test_where_nothing_is_active_it_is_scipys():
    def f(p):
        r = R.from_euler("xyz", [0.1, 0.2, 0.3])
        assert isinstance(r, R) and r.single and len(R.identity(3)) == 3 and r.approx_equal(r)
        group = R.create_group("C3")
        assert np.allclose((group * r).as_quat(), [(g * r).as_quat() for g in group])
        return p[0] * r.as_quat()[0] + R.align_vectors(np.eye(3), np.eye(3))[1]

    assert codipy.value_and_grad(f)(POINT)[0] == f(POINT)
