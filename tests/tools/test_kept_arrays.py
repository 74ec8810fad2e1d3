# SPDX-License-Identifier: Apache-2.0
"""Arrays whose memory a library keeps or writes to stay NumPy's own, or are not written to any more."""

import sys

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import STRATEGIES
from tests.tools.filled import check, module_of

# Programs with what an Array cannot be: what a library keeps or writes to, by its bytes, what the module keeps.
KEPT_BY = """
u = U0.copy(); a = scipy.sparse.csr_matrix((u, PLACES, PLACES5)); u[1] = float(5.0); return p * a.sum()
u = U0.copy(); a = csr((u, PLACES, PLACES5)); u *= float(2.0); return p * a.sum()
u = U0.copy(); parts = (u, PLACES, PLACES5); a = csr(parts); u[1] = float(5.0); return p * a.sum()
u = U0.copy(); a = matrix_of(u); u[1] = float(5.0); return p * a.sum()
u = filled(); a = csr((u, PLACES, PLACES5)); u[1] = float(5.0); return p * a.sum()
o = Operator(U0.copy()); o.u[1] = float(4.0); return p * o.a.sum()
u = U0 * 1.0; o = Operator(u); u[1] = float(4.0); return p * o.a.sum()
o = OwnOperator(); o.set(5.0); return p * o.a.sum()
from scipy.sparse import csr_matrix as own; u = U0.copy(); a = own((u, PLACES, PLACES5)); u += U0; return p * a.sum()
u = U0.copy(); s = scipy.interpolate.BSpline(np.arange(8.0), u, 3); u[0] = float(3.0); return p * float(s(3.5))
u = U0.copy(); scipy.linalg.blas.daxpy(U0, u, a=2.0); u[0] += 1.0; return p * u.sum()
k = U0.copy(); rhs = lambda t, y: (k.fill(0.5), k)[1]; return p * scipy.integrate.solve_ivp(rhs, (0, 1), U0).y.sum()
u = U0.copy(); m = np.ma.array(u, mask=u > 0.5); u[1] = float(0.1); return p * float(m.sum())
u = U0.copy(); u[0] = float(1.0); w = np.from_dlpack(u); u[1] = float(4.0); return p * w.sum()
u = U0.copy(); w = u.ctypes; u[1] = float(4.0); return p * np.ctypeslib.as_array(w.data_as(DOUBLES), (4,))[1]
u = U0.copy(); u[0] = float(1.0); io.BytesIO(b"x" * 32).readinto(u); return p * np.log(u).sum()
u = U0.copy(); u[0] = float(2.0); b = io.BytesIO(b"x" * 32); b.readinto(u); return p * np.log(u).sum()
u = U0.copy(); u[0] = float(1.0); m = memoryview(u); m[1] = float(7.0); u[2] = float(3.0); return p * (u.sum() + m[2])
u = U0.copy(); u[0] = float(1.0); struct.pack_into("d", u, 8, 5.0); return p * u.sum()
u = U0.copy(); u[0] = float(1.0); w = u.view(np.int64); w[1] = float(0); return p * u.sum()
u = U0.copy(); u[0] = float(1.0); u.resize(6, refcheck=False); return p * u.sum() * u.size
u = U0.copy(); u[0] = float(1.0); u.dtype = np.int64; return p * float(u[0])
u = U0.copy(); u[0] = float(1.0); return p * weakref.ref(u)().sum()
u = U0.copy(); u[0] = float(1.0); return p * len(json.dumps([u[0], *u]))
w = CACHE["w"] = U0.copy(); w[0] = float(2.0); return p * w.sum()
w = U0.copy(); w[0] = float(2.0); KEPT.append(w); return p * w.sum()
KEPT.append(U0.copy()); KEPT[-1][0] = float(2.0); return p * KEPT[-1].sum()
OWNER.u = U0.copy(); OWNER.u[0] = float(2.0); return p * OWNER.u.sum()
a, b = Backwards((U0.copy(), U0 * 2.0)); a[0] = float(1.0); return p * (a * U0).sum() + p * b[1]
a, b = seen_last(); a[0] = float(5.0); return p * KEPT[-1].sum()
class C(metaclass=Meta): u = make(); u[0] = u[1]\x00return p * C.u.sum()
""".strip().splitlines()

KEEPING = """
import ctypes, json, struct, weakref
import scipy.integrate, scipy.interpolate, scipy.linalg.blas
from scipy.sparse import csr_matrix as csr
PLACES, PLACES5, DOUBLES, KEPT = np.arange(4), np.arange(5), ctypes.POINTER(ctypes.c_double), []
OWNER = types.SimpleNamespace()
def filled(): u = U0.copy(); u[0] = U0[1]; return u
def matrix_of(u): return csr((u, PLACES, PLACES5))
class Operator:
    def __init__(self, u): self.u = u; self.a = csr((u, PLACES, PLACES5))
class OwnOperator:
    def __init__(self): self.own = U0.copy(); self.a = csr((self.own, PLACES, PLACES5))
    def set(self, x): self.own[1] = x
class Backwards(tuple):
    def __iter__(self): return iter([self[1], self[0]])
class SeenLast(tuple):
    def __del__(self): KEPT.append(self[0])
def seen_last(): return SeenLast((U0.copy(), U0 * 2.0))
def make(): return U0.copy()
class Names(dict):
    def __missing__(self, name): return globals()[name] if name in globals() else 5.0
class Meta(type):
    @classmethod
    def __prepare__(cls, *args): return Names()
"""


@pytest.mark.parametrize("program", KEPT_BY)
def test_an_array_that_has_to_stay_numpys_is_left_alone(program, user_module):
    module = user_module([(program,)], KEEPING)
    check(module, "f0", "auto")
    kept = [*module.KEPT, *module.CACHE.values(), getattr(module.OWNER, "u", None)]
    assert not any(isinstance(u, codipy.Array) for u in kept)


SOLVED = {"RK45": "solve_ivp(rhs, (0, 1), U0).y", "LSODA": "solve_ivp(rhs, (0, 1), U0, 'LSODA').y",
          "odeint": "odeint(rhs, U0, (0.0, 1.0), tfirst=True)"}  # fmt: skip


@pytest.mark.parametrize("solver", SOLVED)
def test_a_right_hand_side_that_fills_one_array(solver, user_module):
    """With RK45 SciPy's own result is that of another equation: it keeps a slope while the next one is asked for."""
    lines = "k = U0 * 0.0", "def rhs(t, y): k[:] = -y; return k", f"return p * scipy.integrate.{SOLVED[solver]}.sum()"
    module = user_module([lines], KEEPING)
    if solver == "RK45":
        with pytest.raises(ActiveError, match=r"return a copy, dydt\.copy"):
            codipy.grad(module.f0)(0.7)
        return
    value, slope = codipy.value_and_grad(module.f0)(0.7)
    assert value == module.f0(0.7) and slope == pytest.approx(value / 0.7)


UNSEEN = KEEPING + """
import array
import scipy.sparse.linalg
MAKERS = [csr, memoryview, np.asarray]
def matrix(make, u): return make((u, PLACES, PLACES5))
"""


FILLING = ["u[1] = float(5.0)", "u *= float(2.0)", "u[1:] = p", "u[0] = u[1]; u.sort()", "np.copyto(u, U0)",
           "u.put(0, p)", "np.sin(u, out=u)", "w = u.T; w[0] = p", "u.fill(U0[1])"]  # fmt: skip


@pytest.mark.parametrize("made", ["u = U0.copy()", "u = np.full(4, 0.5)"])
@pytest.mark.parametrize("fill", FILLING)
def test_what_a_sparse_matrix_shares_is_seen_there(fill, made, user_module):
    lines = f"{made}; u[2] = float(1.0)", "a = matrix(MAKERS[0], u)", fill, "return p * (u.sum() + a.sum())"
    assert check(user_module([lines], UNSEEN), "f0", "auto")


@pytest.mark.parametrize("given", ["a = MAKERS[1](u)"])
@pytest.mark.parametrize("made", ["u = U0.copy()", "u = np.zeros(4)", "u = np.full(4, 0.5)"])
@pytest.mark.parametrize("fill", FILLING)
def test_what_a_library_keeps_unseen_is_not_written_to(fill, made, given, user_module):
    module = user_module([(f"{made}; u[2] = float(1.0)", given, fill, "return p * (u.sum() + a.sum())")], UNSEEN)
    with pytest.raises(ActiveError, match="would not be seen by a library"):
        codipy.grad(module.f0)(0.7)


@pytest.mark.parametrize("given", ["a = matrix(MAKERS[0], u); s = a.sum(); del a",
                                   "a = matrix(MAKERS[0], u.copy()); s = a.sum()",
                                   "a = MAKERS[1](u); s = a[2]; a.release()",
                                   "s = bytes(u)[0] + array.array('d', u)[0]"])  # fmt: skip
def test_what_a_library_no_longer_has_can_be_written_to(given, user_module):
    lines = "u = U0.copy(); u[2] = float(1.0)", given, "u[1] = float(5.0)", "return p * s * u.sum()"
    assert check(user_module([lines], UNSEEN), "f0", "auto")


@pytest.mark.parametrize("number", ["'1.5'", "b'2'", "None", "decimal.Decimal('0.3')", "fractions.Fraction(1, 3)",
                                    "np.array(2)", "True"])  # fmt: skip
def test_an_element_is_set_to_what_numpy_takes_for_a_number(number, user_module):
    module = user_module([("u = U0.copy(); u[1] = p", f"u[0] = {number}", "return np.nansum(u)")],
                         "import decimal, fractions\n")  # fmt: skip
    assert check(module, "f0", "auto")


def test_what_is_no_number_raises_numpys_error(user_module):
    module = user_module([("u = U0.copy(); u[1] = p", f"try: u[0] = {value}",
                           "except (TypeError, ValueError) as error: SEEN.append((type(error), str(error)))",
                           "return u.sum()") for value in ("'x'", "1j", "b''")], "SEEN = []\n")  # fmt: skip
    for name in ("f0", "f1", "f2"):
        module.SEEN.clear()
        check(module, name, "auto")
        assert len(module.SEEN) == 4
        assert len(set(module.SEEN)) == 1


def test_numbers_that_are_written_out_leave_arrays_plain(user_module):
    fills = ["u[0] = 1.0", "u[0] = u[-1] = -2", "u *= 0.5", "u[1:] -= 1", "u.fill(3)", "u.sort()"]
    module = user_module([("u = np.sin(U0)", fill, "SEEN.append(type(u))", "return p * u.sum()") for fill in fills],
                         "import numpy\nSEEN = []\n")  # fmt: skip
    for k in range(len(fills)):
        assert check(module, f"f{k}", "auto")
    assert {kind.__name__ for kind in module.SEEN} == {"ndarray"}


# What a function of another file gives to a library that writes there: no name in this file tells it.
WRITING = """
import ctypes
from scipy.linalg import blas
def scale(v): blas.dscal(2.0, v)
def swap(v, w): blas.dswap(v, w)
def scaled(v): return blas.dscal(2.0, v)
def clear(v): ctypes.memset(v.ctypes.data, 0, 8)
def keep(v): KEPT.append(blas.dscal(2.0, v))
def keep_as_it_is(v): KEPT.append(blas.dscal(1.0, v))
KEPT = []
"""


@pytest.fixture
def with_writing(tmp_path, monkeypatch, user_module):
    module_of(tmp_path, "writing_of_the_user", WRITING)
    yield lambda *programs: user_module([(program,) for program in programs],
                                        "import writing_of_the_user as writing\nMODEL = Model()\n")
    del sys.modules["writing_of_the_user"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("program", [
    "u = U0.copy(); u[1] = float(0.5); writing.scale(u); return p * u.sum()",
    "u = U0.copy(); u[1] = float(0.5); writing.scale(u[1:]); u[0] = p; return p * u.sum()",
    "u = np.zeros(4); u[1] = U0[1]; writing.scale(u); return p * u.sum()",
])  # fmt: skip
def test_what_a_library_writes_to_its_copy_at_once_is_taken_over(program, strategy, with_writing):
    check(with_writing(program), "f0", strategy)


def test_what_a_library_writes_to_an_attribute_is_left_there(with_writing):
    module = with_writing("MODEL.u[1] = float(0.5); writing.scale(MODEL.u); return p * MODEL.u.sum()")
    expected = module.MODEL.u * 2.0
    expected[1] = 1.0
    assert codipy.grad(module.f0)(0.7) == expected.sum()
    assert type(module.MODEL.u) is np.ndarray
    assert np.array_equal(module.MODEL.u, expected)


@pytest.mark.parametrize("program", [
    "u = U0.copy(); u[1] = float(0.5); v = writing.scaled(u); return p * u.sum()",
    "u = U0.copy(); u[1] = float(0.5); u = writing.scaled(u); return p * u.sum()",
    "u = U0.copy(); u[1] = float(0.5); writing.keep(u); return p * u.sum()",
    "MODEL.u[1] = float(0.5); MODEL.v = writing.scaled(MODEL.u); return p * MODEL.u.sum()",
    "u = U0.copy(); u[1] = float(0.5); writing.clear(u); return p * u.sum()",
])  # fmt: skip
def test_what_a_library_writes_to_a_copy_that_it_keeps_is_an_error(program, with_writing):
    module = with_writing(program)
    with pytest.raises(ActiveError, match="a library wrote to an array that it was given"):
        codipy.grad(module.f0)(0.7)
    assert codipy.grad(lambda p: p * p)(0.7) == 1.4


# MINPACK computes in the memory of what a function of the user's returned to it.
ROOTS = """
import scipy.optimize
def residuals(x, b):
    r = np.zeros(3)
    r[:] = x * x - b
    return r
"""


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("program", [
    "b = np.ones(3); b[1] = float(2.5); return p * np.sum(scipy.optimize.fsolve(lambda x: x**3 - b, np.ones(3)))",
    "b = np.linspace(1.0, 2.0, 3); return p * scipy.optimize.root(lambda x: residuals(x, b), np.ones(3)).x[1]",
    "b = np.linspace(1.0, 2.0, 3); return p * scipy.optimize.leastsq(residuals, np.ones(3), (b,))[0][2]",
])  # fmt: skip
def test_what_a_library_computes_in_the_memory_of_what_nobody_else_has(program, strategy, user_module):
    check(user_module([(program,)], ROOTS), "f0", strategy)


@pytest.mark.parametrize("program", [
    "u = U0.copy(); u[1] = float(0.5); writing.swap(u[:3], u[1:]); return p * u[3]",
    "MODEL.u[:] = 0.0; MODEL.u[0] = float(0.5); writing.swap(MODEL.u[:3], MODEL.u[1:]); return p * MODEL.u[3]",
])  # fmt: skip
def test_a_library_that_is_given_the_same_elements_twice_is_refused(program, with_writing):
    with pytest.raises(ActiveError, match="a library wrote to an array that it was given"):
        codipy.grad(with_writing(program).f0)(0.7)
    apart = with_writing("u = U0.copy(); u[1] = float(0.5); writing.swap(u[:2], u[2:]); return p * u[3]")
    assert codipy.grad(apart.f0)(0.7) == 0.5


def test_what_a_library_writes_to_what_an_earlier_recording_showed_it_ends_no_later_one(with_writing):
    module = with_writing("u = U0.copy(); u[1] = float(0.5); writing.keep_as_it_is(u); return p * u.sum()")
    codipy.grad(module.f0)(0.7)

    def later(p):
        module.writing.KEPT.pop()[0] = 5.0
        return p * p

    assert codipy.grad(later)(0.7) == 1.4


ROWS = [np.zeros(2), np.zeros(2)]
VIEW = ROWS[0][1:]


def test_an_array_in_a_list_of_which_another_name_has_a_view_is_filled_with_it():
    def filled(x, row):
        ROWS[row][0] = np.square(x)
        return ROWS[row][0]

    assert codipy.grad(filled)(3.0, 0) == 6.0
    assert VIEW.base is ROWS[0] and ROWS[0][0] == 9.0
    assert codipy.grad(filled)(3.0, 1) == 6.0
    assert type(ROWS[1]) is np.ndarray and ROWS[1].tolist() == [9.0, 0.0]


# What is stored into an array is copied, so that what it is copied from may be filled: no variable keeps that.
COPYING = """
OUTER, ROWS, LISTS = np.ones(4), np.ones((2, 4)), [np.ones(4), {"a": np.ones(4)}]
SPACE = types.SimpleNamespace(w=np.ones(4))
class Own: buffer = np.ones(4)
"""
COPIED = """
OUTER[:] = u; u[1] = p * p; return weighted(OUTER * u)
OUTER[1:] = u[1:]; OUTER[0] = p; return weighted(OUTER * u)
ROWS[1] = u; ROWS[0] = 0.0; return weighted(ROWS[1] * u)
ROWS[0, :] = u; ROWS[1] = u * p; return weighted(ROWS[0] + ROWS[1])
LISTS[0][:] = u; LISTS[1]["a"][:] = u * p; return weighted(LISTS[0] * LISTS[1]["a"])
SPACE.w[...] = u; Own.buffer[:] = u; u[2] = p; return weighted(SPACE.w * Own.buffer * u)
b = np.zeros(4)\x00def g():\x00    v = U0.copy(); v[0] = p; b[:] = v; v[1] = p; return v\x00return weighted(g() * b)
"""


@pytest.mark.parametrize("program", COPIED.strip().splitlines())
def test_what_is_copied_into_an_array_of_the_module_can_be_filled(program, user_module):
    check(user_module([("u = U0.copy(); u[0] = p", program.replace("\\x00", "\x00"))], COPYING), "f0", "auto")
