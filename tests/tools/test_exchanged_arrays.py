# SPDX-License-Identifier: Apache-2.0
"""Plain arrays that were made before and that one attribute, item, closure or global variable has can be filled."""

import tracemalloc

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.covering import in_turn
from tests.strategies import STRATEGIES
from tests.tools.filled import module_of

# Arrays that were made before, each in one place: an attribute, an item, a closure, a global variable.
BEFORE = """
W[0] = p
W[:2] *= p; u = W
u = W; u[1] = p * W[0]
u = W.reshape(2, 2); u[0] = p; u = W
np.multiply(W, p, out=W)
np.multiply(W, p, W); u = W
u = np.add(W, p, out=W, where=W > 0.5)
v = W[:2]; np.add(v, p, out=v, where=v > 0.1); u = W
u = np.exp(W, out=W, where=W > 0.5); W[0] = p
np.add.at(W, [0, 0, 1], p)
W.fill(p)
fill(W, p)
fill_later(W, p)
for row in M: row[1] *= p
v = M[1:]; v[:, 0] = p; u = M[1]
M.T[1] = p; u = M[0]
u = W; io.StringIO().write(f"{np.abs(u).max():g} {u}" + str(u) + "%g" % u.max()); u[0] = p
u = W; json.dump([u.max(), u.tolist(), np.sum(u)], io.StringIO()); u *= p
MODEL.u[0] = p; u = MODEL.u
MODEL.u += p; u = MODEL.u
MODEL.fill(MODEL.u, p); u = MODEL.u
MODEL.work(p); u = MODEL.u
CHILD.model.u[2] = p; u = CHILD.model.u
u = MODEL.u; u *= p
D["u"][1] = p; u = D["u"]
D["u"] += p; u = D["u"]
k = "u"; D[k][2:] = p; u = D[k]
D["l"][0][1:] = p; D["l"][-1][2:] = D["l"][0][1] * p; u = D["l"][1]
for v in D["l"]: v *= p\x00u = D["l"][0]
L[1][:1] = p; u = L[1]
v = L[1]; v[0] = p; u = L[1]
fill(L[0], p); u = L[0]
for k, v in enumerate(L): v[k] = p\x00u = L[1]
for v, w in zip(L, reversed(D["l"])): v += w * p\x00u = L[0]
for v in D["l"]: v.fill(p)\x00u = D["l"][1]
[fill(v, p) for v in L]; u = L[1]
for k in range(2): L[k][k:] = p\x00u = L[0]
L[1][:1] = p; L[0][1:2] = p * p; L.reverse(); u = L[0]
L[-1][:1] = p; L.insert(0, L.pop()); u = L[0]
L[1][0] = p; L[1][2] = L[1][0] * p; u = L[1]
k = 0; L[k + 1][0] = p; u = L[1]
L[1].fill(p); u = L[1]
np.multiply(p, U0, out=L[1]); u = L[1]
np.copyto(L[1], p * U0); u = L[1]
L[0][0] = p; L[0], L[1] = L[1], L[0]; L[0][1] = p * p; u = L[1] * L[0]
v, w = L; v[0] = p; w[1] = p * v[0]; u = L[1]
v = item(1); v[0] = p; u = L[1]
v, w = L[0], L[1]; w[:] = v * p; v, w = w, v; w[0] = v[1] * p; u = L[0] * L[1]
(v, k), w = (D["l"][0], 1), D["u"]; w[k] = p; v[k:] *= w[k:]; u = D["l"][0]
v = L[0] if p > 5.0 else L[1]; v[0] = p; u = L[1]
v: np.ndarray = L[1]; v[0] = p; u = L[1]
for v, w in zip((L[0], L[1]), [D["l"][0], T[0]]): v[0] = p; w[1] = v[0] * p\x00u = T[0] * L[1]
v, w = (D["l"][k] for k in range(2)); v[0] = p; w[1] = p * v[0]; u = D["l"][1]
v, w = P[0]; v[0] = p; w[1] = p * v[0]; u = P[0][1] * v
for v, w in P: v[0] = p; w[1] = p * v[0]\x00u = P[1][1] * P[0][0]
(v, w), (a, b) = P; v[0] = p; b[1] = p * v[0]; u = P[1][1]
for k, (v, w) in enumerate(P): v[k] = p; w[1] += p * v[0]\x00u = P[1][1] * P[1][0]
v, w = E.values(); v[0] = p; w[1] = p * v[0]; u = E["b"]
T[1][0] = p; u = T[1]
v, w = T; v[0] = p; w[1] = p * v[0]; u = T[1]
for v, w in zip(L, T): v[0] = p; w[1] = v[0] * p\x00u = T[0] * L[0]
fill(T[0], p); u = T[0]
N.v[0] = p; N.w[1:] *= p; u = N.v * N.w
M[1][0] = p; u = M[1]
D[1, 2][0] = p; u = D[1, 2]
E["a"][0] = p; u = E["a"]
SLOTTED.u[0] = p; SLOTTED.u[1] = SLOTTED.u[0] * p; u = SLOTTED.u
SHARING.shared[0] = p; u = Sharing.shared
Sharing.shared[0] = p; Sharing.shared *= p; u = SHARING.shared
u = Sharing.give(); u[0] = p
OWNER.level[0] = p; OWNER.level[1:] *= OWNER.level[0]; u = OWNER.level
u = with_default(p); u = u * with_default(p * p)
u = with_word(p) * with_word(2.0 * p, scale=p)
u = with_list(p)
u = inner_default(p)
D["l"][0][1:2] = p; D["l"].append(D["l"].pop(0)); u = D["l"][1]
space.w[1] = p; space.v[2] = p * space.w[1]; space.w, space.v = space.v, space.w; u = space.w
space.w[1] = p; u = space.w
u = closed(p)
u = closed_deeply(p)
W[0] = p; M[0, 1] = W[0] * p; MODEL.u[1] = M[0, 1]; u = MODEL.u
""".strip().splitlines()

MADE_BEFORE = """
import json
W = np.linspace(0.2, 0.9, 4)
M = np.arange(1.0, 9.0).reshape(2, 4)
class Working(Model):
    def work(self, p):
        un = self.u
        un[1:] = un[:-1] * p
        self.u[0] = self.u[1] * p
MODEL = Working()
class Child:
    def __init__(self): self.model = Model()
CHILD = Child()
D = {"u": U0 * 2.0, "l": [U0 * 3.0, U0 * 4.0]}
L = [U0 * 5.0, U0 * 6.0]
space = types.SimpleNamespace(w=U0 * 7.0, v=U0 * 7.5)
T = (U0 * 2.5, U0 * 3.5)
N = collections.namedtuple("Pair", "v w")(U0 * 4.5, U0 * 5.5)
D[1, 2] = U0 * 6.5
P = [(U0 * 1.1, U0 * 1.2), [U0 * 1.3, U0 * 1.4]]
E = collections.defaultdict(list, a=U0 * 7.5, b=U0 * 1.5)
@dataclasses.dataclass(slots=True)
class Slotted:
    u: np.ndarray
SLOTTED = Slotted(U0 * 8.5)
class Sharing:
    shared = U0 * 9.5
    @classmethod
    def give(cls): return cls.shared
SHARING = Sharing()
class Owner:
    def __init__(self): self._level = U0 * 10.5
    @property
    def level(self): return self._level
OWNER = Owner()
def item(k): return L[k]
def with_default(p, out=np.ones(4)):
    'The work array of a right-hand side.'
    out[0] = p
    out[1:] *= out[0]
    return out
def with_word(p, *, out=np.ones(4), scale=2.0):
    out[1] = p * scale
    return out
def with_list(p, out=[np.ones(4), np.ones(4)]):
    out[1][2] = p
    return out[1]
def making():
    def inner_default(p, out=np.ones(4)):
        out[0] *= p
        return out
    return inner_default
inner_default = making()
def defaults():
    return [*with_default.__defaults__, with_word.__kwdefaults__["out"], *with_list.__defaults__[0],
            *inner_default.__defaults__]
def closing():
    w, v = U0 * 8.0, [U0 * 9.0]
    def closed(p):
        w[0] = p
        v[0][1:2] = p * w[0]
        return w
    def closed_deeply(p):
        def inner(): w[1:] *= p
        inner()
        return w * v[0][1]
    return closed, closed_deeply, lambda: (w, v)
closed, closed_deeply, inside = closing()
def state():
    return [W, M, MODEL.u, CHILD.model.u, D["u"], *D["l"], *L, space.w, space.v, inside()[0], inside()[1][0], *T, *N,
            D[1, 2], *E.values(), *P[0], *P[1], OWNER.level, SLOTTED.u, Sharing.shared, *defaults()]
"""


@pytest.fixture
def before(user_module):
    """Makes a module of one of these lines, as its function `f0`."""
    def make(line="W[0] = p"):
        return user_module([(line if "u = " in line else line + "; u = W", "return weighted(u)")], MADE_BEFORE)

    return make


def reset(module, start):
    for array, values in zip(module.state(), start):
        array[...] = values


@pytest.mark.parametrize(("strategy", "line"), in_turn(STRATEGIES, BEFORE))
def test_an_array_that_was_made_before_and_stands_in_one_place(strategy, line, before):
    before = before(line)
    f, p, h, start = before.f0, 0.7, 1e-6, [array.copy() for array in before.state()]
    found = []
    for x in (p, p + h, p - h):
        value, left = f(x), [array.copy() for array in before.state()]
        again, left_again = f(x), [array.copy() for array in before.state()]  # from what the first call left
        found.append((value, left, again, left_again))
        reset(before, start)
    value, left, again, left_again = found[0]
    recorded, slope = codipy.value_and_grad(f, strategy=strategy)(p)
    assert recorded == value
    assert slope == pytest.approx((found[1][0] - found[2][0]) / (2 * h), rel=1e-7, abs=1e-7)
    assert all(type(array) is np.ndarray for array in before.state())
    assert all(map(np.array_equal, before.state(), left))
    assert codipy.value_and_grad(f, strategy=strategy)(p)[0] == again
    assert all(map(np.array_equal, before.state(), left_again))
    reset(before, start)
    assert f(p) == value


@pytest.mark.parametrize("line", BEFORE)
def test_what_is_written_after_the_recording_changes_no_derivative(line, before):
    before = before(line)
    f, start = before.f0, [array.copy() for array in before.state()]
    expected = codipy.grad(f, strategy="primal")(0.7)
    reset(before, start)
    with codipy.Tape(strategy="primal") as tape:
        p = tape.register_input(codipy.Real(0.7))
        y = tape.register_output(codipy.rebind(f)(p))
    assert all(type(array) is np.ndarray for array in before.state())
    for array in before.state():
        array[...] = np.nan
    y.gradient = 1.0
    tape.evaluate()
    assert p.gradient == expected


def test_calls_in_one_recording_go_on_from_each_other(before):
    before = before()

    def twice(p):
        before.MODEL.work(p)
        before.MODEL.work(p)
        return before.weighted(before.MODEL.u)

    start, h = [array.copy() for array in before.state()], 1e-6
    values = []
    for x in (0.7, 0.7 + h, 0.7 - h):
        values.append(twice(x))
        reset(before, start)
    with codipy.Tape() as tape:
        p = tape.register_input(codipy.Real(0.7))
        work = codipy.rebind(before.MODEL.work)
        work(p)
        work(p)
        y = tape.register_output(codipy.rebind(before.weighted)(before.MODEL.u))
    assert y.value == values[0] and type(before.MODEL.u) is np.ndarray
    y.gradient = 1.0
    tape.evaluate()
    assert p.gradient == pytest.approx((values[1] - values[2]) / (2 * h), rel=1e-7)


def test_an_error_leaves_plain_arrays_as_the_plain_run_does(user_module):
    module = user_module([("W[0] = p", "MODEL.u[1] = p", "raise KeyError(p > 0.0)")], MADE_BEFORE)
    for _ in range(2):
        with pytest.raises(KeyError):
            codipy.grad(module.f0)(0.7)
        assert all(type(array) is np.ndarray for array in module.state())
        assert module.W[0] == module.MODEL.u[1] == 0.7


def test_what_others_keep_of_it_they_go_on_sharing(user_module):
    module = user_module([("MODEL.kept = MODEL.u[1:]", "MODEL.u[1] = p", "return MODEL.u.sum()")], MADE_BEFORE)
    for _ in range(2):
        assert codipy.grad(module.f0)(0.7) == 1.0
        assert module.MODEL.kept[0] == module.MODEL.u[1] == 0.7
        module.MODEL.u[1] = 3.0
        assert module.MODEL.kept[0] == 3.0
        module.MODEL.kept = None  # then it is exchanged again when the next recording begins or ends


@pytest.mark.parametrize("holder", ["REFERENCE = weakref.ref(W)", "VIEW = memoryview(W)",
                                    "KEPT = (lambda w: (yield w))(W)", "VIEW = W.view(np.int64)"])  # fmt: skip
def test_an_array_that_others_see_in_ways_of_their_own_is_not_exchanged(holder, user_module):
    module = user_module([("W[0] = p", "return W.sum()"), ("u = W", "u *= p", "return u.sum()")],
                         f"import weakref\n{MADE_BEFORE}\n{holder}\n")  # fmt: skip
    for f in (module.f0, module.f1):
        with pytest.raises(ActiveError):
            codipy.grad(f)(0.7)
        assert type(module.W) is np.ndarray


# Arrays that change places while a function runs are plain afterwards, wherever they stand.
SWAPPED = """
class Cells:
    def __init__(self, u): self.u = u
class Slots:
    __slots__ = ("u", "v")
    def __init__(self, u, v): self.u, self.v = u, v
A, B, S = Cells(U0 * 2.0), Cells(U0 * 3.0), Slots(U0 * 4.0, U0 * 5.0)
L, M, D = [U0 * 6.0, U0 * 6.5], [U0 * 7.0], {"a": U0 * 8.0}
G, H, K = U0 * 8.5, U0 * 9.0, U0 * 9.5
H_TOO = H
def all_arrays(): return [A.u, B.u, S.u, S.v, *L, *M, *D.values(), G, H, K, H_TOO]
"""


@pytest.mark.parametrize("program", [
    "A.u[0] = p; A.u, B.u = B.u, A.u; B.u[1] = p * p; A.u[2] = p; return weighted(A.u) + weighted(B.u * B.u)",
    "S.u[0] = p; S.u, S.v = S.v, S.u; S.u[1] = p * S.v[0]; return weighted(S.u * S.v)",
    "L[0][0] = p; M[0][1] = p; M.append(L.pop(0)); M[1][1] = p * M[1][0]; return weighted(M[1])",
    "L[0][0] = p; D['b'] = L.pop(0); D['a'][1] = p; return weighted(D['b'] * D['a'])",
    "A.u[0] = p; M[0][1] = p; M[0], A.u = A.u, M[0]; return weighted(M[0] * A.u)",
    "global G, K; G[0] = p; G, K = K, G; K[1] = p * p; G[2] = p; return weighted(G) + weighted(K * K)",
    "global G, H, K; G[1:] = H[1:] * p; G, H, K = H, K, G; return weighted(G * H * K)",
    "global G, K; G, K = K, G; K[1] = p; G[0] = K[1] * p; return weighted(G * K)",
    "def turn():\x00    global G, K\x00    G[0] = p; G, K = K, G\x00turn(); K[1] = p * K[0]; return weighted(G * K)",
    "global G\x00def inner(): G[:] = p * K; return weighted(G)\x00K[0] = p; return inner()",
    "u, v = np.zeros(4), U0.copy()\x00def step():\x00    nonlocal u, v\x00    u[:] = v * p; u, v = v, u\x00"
    "step(); step(); step(); A.u[:] = u; return weighted(u * v + A.u)",
])  # fmt: skip
def test_arrays_that_changed_places_are_plain_afterwards(program, user_module):
    module, plain = (user_module([(program,)], SWAPPED) for _ in range(2))
    h = 1e-6
    for _ in range(2):
        start = [array.copy() for array in plain.all_arrays()]
        expected = plain.f0(0.7)
        left = [array.copy() for array in plain.all_arrays()]
        value, slope = codipy.value_and_grad(module.f0)(0.7)
        assert value == expected
        assert all(type(array) is np.ndarray for array in module.all_arrays())
        assert all(map(np.array_equal, module.all_arrays(), left))
        others = []
        for x in (0.7 + h, 0.7 - h):
            other = user_module([(program,)], SWAPPED)
            if len(start) == len(other.all_arrays()):
                for array, values in zip(other.all_arrays(), start):
                    array[...] = values
                others.append(other.f0(x))
        if others:
            assert slope == pytest.approx((others[0] - others[1]) / (2 * h), rel=1e-6)
        if "pop" in program or "H, K" in program:  # other places show the same then
            break


# Items that are found otherwise than by an index: in place, by `get`, `match`, in a deque, beside another default.
FOUND = """
for k in range(2): L[k] += p\x00return weighted(L[1] * L[0])
k = -1; L[k] *= p; L[0] -= L[k] * p; return weighted(L[0])
OWNER.rows[1] += p; return weighted(OWNER.rows[1])
D.get("a")[0] = p; return weighted(D["a"])
v = D.get("a"); v[1] = p; v = D.get("b", U0); v[0] = p * p; return weighted(D["a"] * D["b"])
v = D.get("none"); w = D.get("a"); w[0] = p; return weighted(w) if v is None else p
match L:\x00    case [u, v]: u[0] = p; v[1] = u[0] * p\x00return weighted(L[0] * L[1])
match D:\x00    case {"a": u, **rest}: u[0] = p\x00return weighted(D["a"])
match OWNER:\x00    case Rows(own=u): u[0] = p\x00return weighted(OWNER.own)
match OWNER.own:\x00    case u: u[0] = p; u[1:] *= p\x00return weighted(OWNER.own)
Q[0][0] = p; return weighted(Q[0])
for v in Q: v[0] = p\x00return weighted(Q[1])
Q[-1][0] = p; Q.rotate(1); Q[0][1] = p; return weighted(Q[0])
Q[1][0] = p; Q.append(Q.popleft()); return weighted(Q[0])
return beside(p)
""".strip().splitlines()

FINDING = """
class Rows:
    def __init__(self): self.rows, self.own = [U0 * 1.5, U0 * 2.5], U0 * 3.5
OWNER = Rows()
L, D = [U0 * 5.0, U0 * 6.0], {"a": U0 * 7.0, "b": U0 * 8.0}
Q = collections.deque([U0 * 2.0, U0 * 3.0])
def helper(u): return u * U0
def beside(p, out=U0 * 9.0, g=helper):
    out[0] = p
    return weighted(g(out))
def everything(): return [*L, *D.values(), *Q, *OWNER.rows, OWNER.own, beside.__defaults__[0]]
"""


@pytest.mark.parametrize(("strategy", "program"), in_turn(STRATEGIES, FOUND))
def test_items_that_are_found_by_other_ways(strategy, program, user_module):
    def fresh():
        return user_module([(program,)], FINDING)

    module, plain = fresh(), fresh()
    for repeat in range(2):
        others = []
        for x in (0.7 + 1e-6, 0.7 - 1e-6):
            other = fresh()
            for _ in range(repeat):
                other.f0(0.7)
            others.append(other.f0(x))
        value, slope = codipy.value_and_grad(module.f0, strategy=strategy)(0.7)
        assert value == plain.f0(0.7)
        assert slope == pytest.approx((others[0] - others[1]) / 2e-6, rel=1e-7, abs=1e-7)
        assert all(type(array) is np.ndarray for array in module.everything())
        assert all(map(np.array_equal, module.everything(), plain.everything()))


UNUSUAL = """
import ctypes
class FromOne(tuple):
    def __getitem__(self, k): return tuple.__getitem__(self, k - 1)
class Counted(tuple):
    def __len__(self): return 6000
class Meta(type):
    @property
    def w(cls): return None
class WithMeta(metaclass=Meta):
    w = U0 * 2.0
    def fill(self, p): self.w[0] = p; return weighted(self.w)
ONES, COUNTED, OTHER = FromOne((U0 * 2.0, U0 * 3.0)), Counted((U0 * 4.0, U0 * 5.0)), WithMeta()
W, ADDRESSED = U0 * 6.0, U0 * 7.0
ADDRESS = ADDRESSED.ctypes.data
NAMES = {id(W): 1.0}
class First: __slots__ = ("u",)
class Second: __slots__ = ("u",)
CHANGING = First()
CHANGING.u = U0 * 8.0
"""


@pytest.mark.parametrize("program", [
    "ONES[1][0] = p; return weighted(ONES[1])",
    "[v.__setitem__(0, p) for v in COUNTED]; return weighted(COUNTED[0])",
    "return OTHER.fill(p)",
    "ADDRESSED[0] = p; return p * ctypes.c_double.from_address(ADDRESS).value",
])  # fmt: skip
def test_what_holds_arrays_in_ways_of_its_own_is_left_alone(program, user_module):
    module = user_module([(program,)], UNUSUAL)
    with pytest.raises(ActiveError):
        codipy.grad(module.f0)(0.7)


def test_an_array_is_known_by_its_identity_while_another_stands_for_it(user_module):
    module = user_module([("W[0] = p", "return p * NAMES.get(id(W), 5.0) * W[0]")], UNUSUAL)
    assert codipy.value_and_grad(module.f0)(0.7) == (0.7 * 1.0 * 0.7, 1.4)


def test_a_place_that_is_no_more_keeps_no_other_one(user_module):
    module = user_module([("CHANGING.u[0] = p", "W[0] = p", "CHANGING.__class__ = Second", "return weighted(W)")],
                         UNUSUAL)  # fmt: skip
    assert codipy.grad(module.f0)(0.7) == 1.0
    assert type(module.W) is np.ndarray


def test_a_module_of_a_library_may_have_a_variable_called_view(user_module, monkeypatch):
    monkeypatch.setattr("scipy.constants._view", "front", raising=False)
    monkeypatch.setattr("scipy.constants.u", np.ones(3), raising=False)
    module = user_module([("MODEL.u[0] = p", "return p * scipy.constants.u.sum()")],
                         f"import scipy.constants\n{MADE_BEFORE}")  # fmt: skip
    assert codipy.grad(module.f0)(0.7) == 3.0


COPIES = """
import tracemalloc

def f0(p):
    for _ in range(2000):
        model = copy.deepcopy(MODEL)
        model.u[0] = p
        PEAKS.append(tracemalloc.get_traced_memory()[0])
        del PEAKS[:-1]
    return model.u.sum()

PEAKS = []
"""


def test_objects_that_are_gone_leave_nothing_behind_in_a_long_recording(tmp_path):
    module = module_of(tmp_path, "copies_of_models", f"import copy\n{MADE_BEFORE}\n{COPIES}")
    assert codipy.grad(module.f0)(0.7) == 1.0
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        assert codipy.grad(module.f0)(0.7) == 1.0
        grown = module.PEAKS[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 200 * 2000  # 900 bytes a step where each place is remembered until the recording ends


def test_a_view_that_cannot_be_filled_is_said_to_be_one(tmp_path):
    module = module_of(tmp_path, "views_of_the_user", """
M = np.ones((3, 3))
def f(p):
    d = np.einsum("ii->i", M)
    d[0] = p
    return M.sum()
""")
    with pytest.raises(ActiveError, match="seen in the array that `d` is a view of, write there by an index"):
        codipy.grad(module.f, rebind=False)(0.7)
    assert codipy.value_and_grad(module.f)(0.7) == (8.7, 1.0)
    assert type(module.M) is np.ndarray and module.M[0, 0] == 0.7


class Optimizer:
    """What has arrays in lists: of an attribute, and of a dict."""

    def __init__(self):
        self.moments, self.state = [np.ones(3)], {"v": [np.ones(3)]}

    def step(self, x):
        self.moments[0] *= x
        self.state["v"][-1] += x
        return self.moments[0] @ self.state["v"][0]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_items_of_lists_of_parameters_are_added_to_in_place(strategy):
    x, optimizer, plain = np.array([1.0, 2.0, 3.0]), Optimizer(), Optimizer()
    for _ in range(2):
        value, gradient = codipy.value_and_grad(lambda x, o: o.step(x), strategy=strategy)(x, optimizer)
        before = np.copy(plain.moments[0]), np.copy(plain.state["v"][0])
        assert value == plain.step(x)
        assert gradient.tolist() == (before[0] * (2.0 * x + before[1])).tolist()
        assert type(optimizer.moments[0]) is type(optimizer.state["v"][0]) is np.ndarray
        assert optimizer.moments[0].tolist() == plain.moments[0].tolist()
        assert optimizer.state["v"][0].tolist() == plain.state["v"][0].tolist()
