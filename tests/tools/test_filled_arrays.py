# SPDX-License-Identifier: Apache-2.0
"""Plain arrays that a function makes and fills with what is active, however it makes them and fills them."""

import importlib.util
import itertools
import linecache
import sys
import textwrap

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import STRATEGIES

HEAD = """
import copy, dataclasses, functools, io, pickle, types
import numpy as np
import scipy.linalg
import scipy.sparse

U0 = np.linspace(0.2, 0.8, 4)
A = np.diag(U0 + 1.0) + 0.1
CACHE = {}

def made_by_function(): return U0 + 0.5

def made_after_work():
    a = U0.copy()
    a[1] = 0.25
    return a

def made_if_missing(u=None): return U0.copy() if u is None else u

def arrays():
    while True:
        yield U0 / 2.0

@dataclasses.dataclass
class State:
    u: np.ndarray
    t: float = 0.0

class Model:
    scale = 2.0
    def __init__(self): self.u = U0 * self.scale
    def make(self): return self.u.copy()
    def fill(self, u, p): u[1] = p * p
    @property
    def fresh(self): return U0 * 3.0

def fill(u, p): u[0] = p
def fill_later(u, p): fill(u[1:], p)
def fill_word(p, *, where): where[2] = p

def weighted(u): return float_sum(np.ravel(u) * np.arange(1.0, 5.0))
def float_sum(u): return u.sum()
"""

WAYS = """
u = U0.copy()
u = U0 * 1.0
u = -U0
u = 1.0 - U0 / 3.0
u = U0[::-1].copy()
u = U0[[0, 1, 3, 2]]
u = U0[U0 > 0.0]
u = np.sin(U0)
u = np.copy(U0)
u = np.array(U0)
u = A @ U0
u = A.dot(U0)
u = np.dot(A, U0)
u = A.sum(axis=0)
u = A.diagonal().copy()
u = U0.astype(float)
u = U0.clip(0.3, 0.7)
u = U0.cumsum()
u = U0.repeat(2)[::2].copy()
u = U0.reshape(2, 2).T.copy().ravel()
u = A[:, 1].copy()
u = A.T[1] + 0.0
u = np.linalg.solve(A, U0)
u = np.linalg.inv(A)[0].copy()
u = np.where(U0 > 0.5, U0, 0.0)
u = np.concatenate([U0[:2], U0[:2]])
u = np.random.default_rng(0).random(4)
u = np.random.default_rng(1).normal(size=4)
u = np.random.default_rng(1).permutation(U0)
u = np.loadtxt(io.StringIO("1 2 3 4"))
u = np.fromstring("1 2 3 4", sep=" ")
u = copy.copy(U0)
u = copy.deepcopy(U0)
u = pickle.loads(pickle.dumps(U0))
u = scipy.linalg.solve(A, U0)
u = scipy.sparse.csr_matrix(A) @ U0
u = scipy.sparse.csr_matrix(A).diagonal()
u = sum([U0, U0])
u = made_by_function()
u = made_after_work()
u = made_if_missing()
u = Model().make()
u = Model().fresh
u = next(arrays())
u = [U0.copy(), U0 * 2.0][1]
u = {"a": U0.copy()}["a"]
u = U0.copy() if p > 0 else None
u = None or U0.copy()
u = (lambda: U0 * 2.0)()
u: object = U0.copy()
v, u = 2.0, U0.copy()
v, u = np.linalg.eigh(A)[0], U0.copy()
u, v = np.linalg.eigh(A)
u = v = U0.copy()
(u := U0.copy())
for u in (U0.copy(), U0 * 2.0): pass
for u in [x * 2.0 for x in (U0, U0)]: pass
u = np.ma.filled(U0.copy())
""".strip().splitlines()

FILLS = """
u[0] = p
u[1:3] = p * u[:2]
u[...] = p
u[u > 0.3] = p
u[[0, 2]] = p
u[0], u[1] = p, p * p
u += p
u *= p
u[1:] -= p
u.fill(p)
u.flat[1] = p
u.T[0] = p
u.put(0, p)
np.put(u, [1], p)
np.copyto(u, p)
np.copyto(u[:2], p)
np.add.at(u, [0, 0], p)
np.multiply(u, p, out=u)
fill(u, p)
fill(u=u, p=p)
fill_later(u, p)
fill_word(p, where=u)
Model().fill(u, p)
w = u; w[1] = p
w = u[1:]; w[0] = p
w = u.T; w[1] += p
w = np.asarray(u); w[1] *= p
for i in range(3): u[i] = u[i + 1] * p
[u.__setitem__(0, p) for k in (0,)]
def g(): u[1] = p
    g()
g = lambda: u.fill(p); g()
h = [u, 1.0]; h[0][1] = p
h = dict(u=u); h["u"][1] = p
h = {}; h["u"] = u; h["u"] += p
s = State(u); s.u[0] = p
s = State(u=u); s.u += p
s = types.SimpleNamespace(u=u); s.u[2] = p
m = Model(); m.u = u; m.u[1] = p
""".strip().replace("\n    ", "\x00").splitlines()  # fmt: skip

HELD = """
s = State(U0.copy()); s.u[0] = p; u = s.u
s = State(u=U0 * 2.0); s.u[1:] *= p; u = s.u
m = Model(); m.u[1] = p; u = m.u
m = Model(); m.u = U0.copy(); m.u += p; u = m.u
s = {"u": U0.copy()}; s["u"][1] = p; u = s["u"]
s = dict(u=U0.copy()); s["u"] += p; u = s["u"]
s = {}; s["u"] = np.sin(U0); s["u"][0] = p; u = s["u"]
s = []; s.append(U0.copy()); s[0][1] = p; u = s[0]
s = [U0.copy() for k in range(2)]; s[1][0] = p; u = s[1]
s = {k: U0 * k for k in range(3)}; s[2][0] = p; u = s[2]
s = [U0.copy(), U0.copy()]; s[0][0] = p; s[1][1] = s[0][0] * p; u = s[1]
s = types.SimpleNamespace(u=U0.copy()); s.u[0] = p; u = s.u
s = functools.partial(fill, U0.copy()); s(p); u = s.args[0]
""".strip().splitlines()

# Plain arrays that others can see too: by another name, a view, a list, a memo, a weak reference, a generator.
SEEN = """
u = U0
u = U0[:]
u = U0.reshape(2, 2)
u = np.asarray(U0)
u = CACHE.setdefault("u", U0 * 2.0)
u = kept()
u = kept_view()
u = view_of_kept()
u = watched()
u = exported()
u = remembered(2.0)
u = next(BUFFERS)
u = Owner.buffer()
u, v = (U0, 1.0)
u, v = pair()
u = np.frombuffer(bytearray(32))
""".strip().splitlines()

SEEING = """
import weakref

KEPT = []
def kept(): u = U0 * 2.0; KEPT.append(u); return u
def kept_view(): u = U0 * 2.0; KEPT.append(u[1:]); return u
def view_of_kept(): u = U0 * 2.0; KEPT.append(u); return u[::-1]
def watched(): u = U0 * 2.0; KEPT.append(weakref.ref(u)); return u
def exported(): u = U0 * 2.0; KEPT.append(memoryview(u)); return u
@functools.lru_cache
def remembered(scale): return U0 * scale
def buffers():
    u = U0.copy()
    while True: yield u
BUFFERS = buffers()
class Owner:
    made = U0 * 2.0
    @classmethod
    def buffer(cls): return cls.made
PAIR = U0.copy(), U0.copy()
def pair(): return PAIR
"""


def module_of(tmp_path, name, text):
    path = tmp_path / f"{name}.py"
    path.write_text(HEAD + text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def function(number, *lines):
    body = "\n".join(line.replace("\x00", "\n") for line in lines)
    return f"def f{number}(p):\n" + textwrap.indent(body, "    ") + "\n"


def check(module, name, strategy):
    f, p, h = getattr(module, name), 0.7, 1e-6
    value, slope = codipy.value_and_grad(f, strategy=strategy)(p)
    assert value == f(p)
    expected = (f(p + h) - f(p - h)) / (2 * h)
    assert slope == pytest.approx(expected, rel=1e-7, abs=1e-7)
    return expected


@pytest.mark.parametrize("way", WAYS)
def test_an_array_that_the_function_makes_can_be_filled_in_any_way(way, tmp_path, monkeypatch):
    text = "\n".join(function(k, way, fill, "return weighted(u)") for k, fill in enumerate(FILLS))
    module = module_of(tmp_path, "filled_arrays_of_the_user", text)
    monkeypatch.delitem(sys.modules, module.__name__)
    strategies = itertools.cycle(STRATEGIES)
    slopes = [check(module, f"f{k}", strategy) for k in range(len(FILLS)) for strategy in ("auto", next(strategies))]
    assert sum(map(bool, slopes)) > len(slopes) // 2  # a derivative that is lost would not be seen where it is zero


@pytest.fixture
def user_module(tmp_path, monkeypatch):
    """What makes a module of the user's of functions, each given by its lines."""

    def make(programs, head=""):
        text = head + "\n".join(function(k, *lines) for k, lines in enumerate(programs))
        module = module_of(tmp_path, "filled_arrays_of_the_user", text)
        monkeypatch.delitem(sys.modules, module.__name__)
        return module

    return make


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_arrays_that_are_made_into_a_list_a_dict_or_an_object(strategy, user_module):
    module = user_module([(line, "return weighted(u)") for line in HELD])
    assert all(check(module, f"f{k}", strategy) for k in range(len(HELD)))


@pytest.mark.parametrize("way", SEEN)
def test_an_array_that_others_can_see_is_not_filled(way, user_module):
    module = user_module([(way, "u[0] = p", "return u.sum()"), (way, "u *= p", "return u.sum()")], SEEING)
    for f in (module.f0, module.f1):
        with pytest.raises(ActiveError):
            codipy.grad(f)(0.7)


def layout(u):
    return type(u).__name__, u.dtype, u.shape, u.strides, u.base is None, u.flags.writeable, u.flags.owndata


@pytest.mark.parametrize("way", [*WAYS, *SEEN[:4], "u = np.ones((2, 3, 4)).transpose(2, 0, 1).copy('K')",
                                 "u = np.random.default_rng(0).random((3, 4)).T", "u = np.arange(9.0)[::-2]",
                                 "u = U0.astype(np.float32)", "u = np.arange(4) * 2",
                                 "u = np.float32(1) * np.ones((2, 3), np.float32)[:, ::2]"])  # fmt: skip
def test_the_array_is_laid_out_as_numpys(way, user_module):
    module = user_module([(way, "LAYOUT(u)", "if p > 9.0: u[0] = 1", "return p * u.sum()")], SEEING)
    seen = []
    module.LAYOUT = lambda u: seen.append(layout(u))
    module.f0(0.7)
    codipy.grad(module.f0)(0.7)
    (_, *plain), (_, *recorded) = seen
    assert plain == recorded


def test_arrays_of_other_kinds_stay_what_they_are(user_module):
    ways = ["np.arange(4) * 2", "U0 * 1j", "U0 > 0.5", "np.array(['a'] * 4)", "np.ma.masked_array(U0) * 2.0",
            "U0.astype('>f8')", "np.array([None] * 4)", "U0.astype('g')", "list(U0)", "U0.tobytes()"]  # fmt: skip
    module = user_module([(f"u = {way}", "KIND(u)", "if p > 9.0: u[0] = 1", "return p") for way in ways])
    for k in range(len(ways)):
        seen = []
        module.KIND = lambda u, seen=seen: seen.append((type(u), getattr(u, "dtype", None)))
        f = getattr(module, f"f{k}")
        f(0.7)
        codipy.grad(f)(0.7)
        assert seen[0] == seen[1]


def test_what_is_not_filled_stays_a_plain_array(user_module):
    programs = [("u = U0.copy()", "SEEN.append(type(u))", f"{use}(u)", "return p * u.sum()")
                for use in ("reads", "np.sin", "len", "np.ndarray.tobytes", "tobytes", "float_sum")]  # fmt: skip
    module = user_module(programs, "def reads(u): return u[0] + 1.0\nSEEN, tobytes = [], np.ndarray.tobytes\n")
    for k in range(len(programs)):
        codipy.grad(getattr(module, f"f{k}"))(0.7)
    assert module.SEEN == [np.ndarray] * len(programs)


def test_nothing_is_made_an_array_where_no_tape_records(user_module):
    module = user_module([("u = U0.copy()", "if isinstance(p, float): SEEN.append(type(u))", "u[0] = p",
                           "return u.sum()")], "SEEN = []\n")  # fmt: skip
    codipy.rebind(module.f0)(0.7)
    assert module.SEEN == [np.ndarray]


PLACES = """
from __future__ import annotations
import functools
import numpy as np

U0 = np.linspace(0.2, 0.8, 4)

def decorated(f):
    @functools.wraps(f)
    def call(*args): return f(*args)
    return call

@decorated
@decorated
def f0(p):
    '''A docstring.'''
    u: np.ndarray = U0.copy()
    u[0] = p
    return u.sum()

if True:
    try:
        def f1(p, *, scale=2.0):
            u = U0 * scale
            u[0] = p
            return u.sum()
    finally:
        pass

class C:
    class Inner:
        @staticmethod
        def f2(p):
            def work():
                __u = U0.copy()
                __u[0] = p
                return __u.sum()
            return work()
    @classmethod
    def f3(cls, p):
        u = (lambda: U0 / 2.0)()
        u[0] = p
        return super().__hash__ and u.sum()

f2, f3 = C.Inner.f2, C.f3

def f4(p):
    return sum(u.sum() for u in pieces(p))

def pieces(p):
    for k in range(3):
        u = U0 * k; u[k] = p
        yield u

def f5(p):
    u = U0.copy(); v = U0.copy(); u[0] = p; v[1] = u[0] * p; return u @ v

f6 = lambda p: (u := U0.copy(), u.fill(p), u.sum())[2]

def f7(p, é=3.0):
    text = "é"; u = U0 * é; u[0] = p
    return u.sum()

def f8(p):
    match p > 0:
        case _:
            u = U0.copy()
            u[0] = p
    return u.sum()

def made():
    global f9
    def f9(p):
        u = U0.copy()
        u[0] = p
        return u.sum()

made()
"""


@pytest.fixture
def places(tmp_path, monkeypatch):
    path = tmp_path / "places_of_the_user.py"
    path.write_text(PLACES, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("places_of_the_user", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(10))
def test_a_function_is_found_in_its_source_wherever_it_stands(number, places):
    assert check(places, f"f{number}", "auto")


def test_a_source_that_was_edited_since_changes_nothing(places):
    path = places.__file__
    text = PLACES.replace("u[0] = p", "u[0] = 2.0 * p")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    linecache.clearcache()
    with pytest.raises(ActiveError, match="plain array"):
        codipy.grad(places.f1)(0.7)


def test_a_module_that_was_reloaded_is_read_again(places):
    assert codipy.grad(places.f1)(0.7) == 1.0
    path, text = places.__file__, PLACES.replace("u[0] = p", "u[0] = 20.0 * p")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    places.__spec__.loader.exec_module(places)
    assert codipy.grad(places.f1)(0.7) == 20.0


def test_a_function_without_source_is_told_what_to_write():
    space = {"U0": np.linspace(0.2, 0.8, 4)}
    exec("def f(p):\n    u = U0.copy()\n    u[0] = p\n    return u.sum()", space)
    with pytest.raises(ActiveError, match="plain array"):
        codipy.grad(space["f"])(0.7)


def test_functions_of_a_notebook_are_found():
    text = "U0 = np.linspace(0.2, 0.8, 4)\ndef f(p):\n    u = U0.copy()\n    u[0] = p\n    return u.sum()\n"
    name, space = "<ipython-input-1-abc>", {"np": np, "__name__": "__main__"}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), space)
    assert codipy.grad(space["f"])(0.7) == 1.0


def test_lines_of_messages_and_tracebacks_are_the_users(places):
    places.U0 = np.array([None] * 4)
    with pytest.raises(TypeError) as caught:
        codipy.grad(places.f1)(0.7)
    assert caught.traceback[-1].statement.lines[0].strip() == "u = U0 * scale"


# Programs with what an Array cannot be: what a library keeps or writes to, by its bytes, what the module keeps.
KEPT_BY = """
u = U0.copy(); a = scipy.sparse.csr_matrix((u, PLACES, PLACES5)); u[1] = 5.0; return p * a.sum()
u = U0.copy(); a = csr((u, PLACES, PLACES5)); u *= 2.0; return p * a.sum()
u = U0.copy(); parts = (u, PLACES, PLACES5); a = csr(parts); u[1] = 5.0; return p * a.sum()
u = U0.copy(); a = matrix_of(u); u[1] = 5.0; return p * a.sum()
u = filled(); a = csr((u, PLACES, PLACES5)); u[1] = 5.0; return p * a.sum()
o = Operator(U0.copy()); o.u[1] = 4.0; return p * o.a.sum()
u = U0 * 1.0; o = Operator(u); u[1] = 4.0; return p * o.a.sum()
o = OwnOperator(); o.set(5.0); return p * o.a.sum()
from scipy.sparse import csr_matrix as own; u = U0.copy(); a = own((u, PLACES, PLACES5)); u[1] = 5.0; return p * a.sum()
u = U0.copy(); s = scipy.interpolate.BSpline(np.arange(8.0), u, 3); u[0] = 3.0; return p * float(s(3.5))
u = U0.copy(); scipy.linalg.blas.daxpy(U0, u, a=2.0); u[0] += 1.0; return p * u.sum()
k = U0.copy(); rhs = lambda t, y: (k.fill(0.5), k)[1]; return p * scipy.integrate.solve_ivp(rhs, (0, 1), U0).y.sum()
k = U0 * 0.0\x00def rhs(t, y): k[:] = -y; return k\x00return p * scipy.integrate.solve_ivp(rhs, (0, 1), U0).y.sum()
u = U0.copy(); m = np.ma.array(u, mask=u > 0.5); u[1] = 0.1; return p * float(m.sum())
u = U0.copy(); u[0] = 1.0; w = np.from_dlpack(u); u[1] = 4.0; return p * w.sum()
u = U0.copy(); u[0] = 1.0; w = u.ctypes; u[1] = 4.0; return p * np.ctypeslib.as_array(w.data_as(DOUBLES), (4,))[1]
u = U0.copy(); u[0] = 1.0; io.BytesIO(b"x" * 32).readinto(u); return p * np.log(u).sum()
u = U0.copy(); u[0] = 2.0; b = io.BytesIO(b"x" * 32); b.readinto(u); return p * np.log(u).sum()
u = U0.copy(); u[0] = 1.0; m = memoryview(u); m[1] = 7.0; u[2] = 3.0; return p * (u.sum() + m[2])
u = U0.copy(); u[0] = 1.0; struct.pack_into("d", u, 8, 5.0); return p * u.sum()
u = U0.copy(); u[0] = 1.0; w = u.view(np.int64); w[1] = 0; return p * u.sum()
u = U0.copy(); u[0] = 1.0; u.resize(6, refcheck=False); return p * u.sum() * u.size
u = U0.copy(); u[0] = 1.0; u.dtype = np.int64; return p * float(u[0])
u = U0.copy(); u[0] = 1.0; return p * weakref.ref(u)().sum()
u = U0.copy(); u[0] = 1.0; return p * len(json.dumps([u[0], *u]))
w = CACHE["w"] = U0.copy(); w[0] = 2.0; return p * w.sum()
w = U0.copy(); w[0] = 2.0; KEPT.append(w); return p * w.sum()
KEPT.append(U0.copy()); KEPT[-1][0] = 2.0; return p * KEPT[-1].sum()
OWNER.u = U0.copy(); OWNER.u[0] = 2.0; return p * OWNER.u.sum()
a, b = Backwards((U0.copy(), U0 * 2.0)); a[0] = 1.0; return p * (a * U0).sum() + p * b[1]
a, b = seen_last(); a[0] = 5.0; return p * KEPT[-1].sum()
class C(metaclass=Meta): u = make(); u[0] = 2.0\x00return p * C.u.sum()
""".strip().splitlines()

KEEPING = """
import ctypes, json, struct, weakref
import scipy.integrate, scipy.interpolate, scipy.linalg.blas
from scipy.sparse import csr_matrix as csr
PLACES, PLACES5, DOUBLES, KEPT = np.arange(4), np.arange(5), ctypes.POINTER(ctypes.c_double), []
OWNER = types.SimpleNamespace()
def filled(): u = U0.copy(); u[0] = 2.0; return u
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


UNSEEN = KEEPING + """
import array
import scipy.sparse.linalg
MAKERS = [csr, memoryview, np.asarray]
def matrix(make, u): return make((u, PLACES, PLACES5))
"""


@pytest.mark.parametrize("given", ["a = matrix(MAKERS[0], u)", "a = MAKERS[1](u)"])
def test_what_a_library_keeps_unseen_is_not_written_to(given, user_module):
    module = user_module([("u = U0.copy(); u[2] = 1.0", given, fill, "return p * (u.sum() + a.sum())")
                          for fill in ("u[1] = 5.0", "u *= 2.0", "u[1:] = p", "u.sort()", "np.copyto(u, U0)", "u.put(0, p)",
                                       "np.sin(u, out=u)", "w = u.T; w[0] = p", "u.fill(2.0)")], UNSEEN)  # fmt: skip
    for name in [name for name in vars(module) if name[0] == "f" and name[1:].isdigit()]:
        with pytest.raises(ActiveError, match="would not be seen by a library"):
            codipy.grad(getattr(module, name))(0.7)


@pytest.mark.parametrize("given", ["a = matrix(MAKERS[0], u); s = a.sum(); del a",
                                   "a = matrix(MAKERS[0], u.copy()); s = a.sum()",
                                   "a = MAKERS[1](u); s = a[2]; a.release()",
                                   "s = bytes(u)[0] + array.array('d', u)[0]"])  # fmt: skip
def test_what_a_library_no_longer_has_can_be_written_to(given, user_module):
    module = user_module([("u = U0.copy(); u[2] = 1.0", given, "u[1] = 5.0", "return p * s * u.sum()")], UNSEEN)
    assert check(module, "f0", "auto")


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
