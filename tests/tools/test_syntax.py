# SPDX-License-Identifier: Apache-2.0
"""Differentiated functions in the syntax that later Pythons have, and what these changed in `exec` and `locals`."""

import importlib.util
import sys

import numpy as np
import pytest

import codipy

POINT = np.array([0.7, 1.3, 0.4])

SOURCES = {
    "parameters of types": ((3, 12), """
def filled[T: (float, np.floating)](values: list[T], size: int = 3) -> T:
    out = np.zeros(size)
    for k, v in enumerate(values):
        out[k] = v * v
    return out.sum()

def f(x):
    return filled([x[0], x[1]]) * filled([float(x[2])])
"""),
    "generic classes": ((3, 12), """
class Box[T]:
    rate = 2.0

    def __init__(self, v: T):
        self.v, self.work = v, np.zeros(2)

    def get[S](self, scale: S) -> T:
        self.work[1] = self.v * scale
        return self.work[1] * self.rate

class FloatBox(Box[float]):
    pass

def f(x):
    match Box(x[0]):
        case Box(v=np.floating() as v) if isinstance(v, np.floating):
            return Box[float](v).get(x[1]) + FloatBox(x[2]).get(2.0) * len(Box.__type_params__)
    return x[1]
"""),
    "aliases of types": ((3, 12), """
type Number = float | int
type Pair[T] = tuple[T, T]

def f(x):
    kinds = Number.__value__
    pair: Pair[float] = (float(x[0]), float(x[1]))
    return sum(p * p for p in pair if isinstance(p, kinds)) + (x[2] if Number.__name__ == "Number" else 0.0)
"""),
    "types in functions": ((3, 12), """
def f(x):
    type Local = np.floating
    def inner[T](v: T) -> T:
        out = np.empty(2)
        out[:] = v
        return out[0] * out[1]
    class Holder[T]:
        def hold(self, v: T):
            return inner(v) * x[1]
    return Holder[float]().hold(x[0]) * (2.0 if isinstance(x[0], Local.__value__) else 1.0)
"""),
    "texts in texts": ((3, 12), """
def f(x):
    names = {"a": x[0], "b": x[1]}
    text = f"{", ".join(f"{name}={float(value):{".3f"}}" for name, value in names.items())} {float(x[2])!s:.{1 + 1}}"
    return names[f"{"a"}"] * x[1] * len(text) + (x[2] if f"{text!s:.{1}}" == "a" else 0.0)
"""),
    "comprehensions": ((3, 10), """
SCALE = 3.0

def f(x):
    k, v = 5.0, x[0]
    grid = np.zeros((3, 3))
    squares = [[v * w for w in x if w > 0.5] for v in x]
    for i, row in enumerate(squares):
        for j, w in enumerate(row):
            grid[i, j] = w
    table = {k: (lambda: v * k)() for k, v in enumerate(x, 1)}
    total = sum(v for v in table.values()) + sum({i: v for i, v in enumerate(x)}.values())
    class Inner:
        scale = 2.0
        values = [w * SCALE for w in x]
        names = sorted(locals())
    return (grid.sum() + total) * v * k + sum(Inner.values) * len([name for name in Inner.names if name[0] != "_"])
"""),
    "names in comprehensions": ((3, 10), """
def f(x):
    last = [found := v * v for v in x]
    seen = [sorted(name for name in locals() if name[0] != ".") for v in x[:1]]
    return found * last[0] + len(seen[0]) * 0.0
"""),
    "groups of exceptions": ((3, 11), """
def f(x):
    out = np.zeros(2)
    try:
        raise ExceptionGroup("both", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        out[0] = x[0] * len(group.exceptions)
    except* TypeError:
        out[1] = x[1] * out[0]
    return out.sum()
"""),
    "stars in an index": ((3, 11), """
def f(x):
    grid = np.zeros((2, 2, 3))
    at = (0, 1)
    grid[*at] = x
    grid[*at, 0] = x[1] * x[2]
    total = 0.0
    for row in *grid[0], *grid[1]:
        total = total + (row * row).sum()
    return total
"""),
    "several contexts": ((3, 10), """
import contextlib

@contextlib.contextmanager
def held(v):
    work = np.zeros(1)
    work[0] = v
    yield work[0]

def f(x):
    with (held(x[0]) as a, held(x[1] * a) as b, contextlib.suppress(ValueError)):
        return a * b
"""),
    "executed text": ((3, 10), """
def f(x):
    y, z = x[0], 1.0
    exec("y = 5.0; z = 100.0")
    exec("y = 7.0", globals(), locals())
    eval("[y := 9.0 for _ in range(2)]")
    names = locals()
    names["z"] = 50.0
    vars()["y"] = 3.0
    exec("z = 8.0", None, names)
    return y * y * z + x[1] * names["z"]
"""),
    "executed text that defines": ((3, 10), """
def f(x):
    names = {"v": x[1]}
    exec("import numpy as np\\ndef g(x):\\n  out = np.zeros(1)\\n  return float(x) * v + isinstance(x, float) * 2 * x",
         names)
    found = eval("g(w) + v", names, {"w": x[0]})
    exec("v = v * v", names)
    kinds = [isinstance(names["__builtins__"], dict), sorted(name for name in names if name[0] != "_")]
    return found * names["v"] * (2.0 if kinds == [True, ["g", "np", "v"]] else 1.0)
"""),
    "names of a class that is executed": ((3, 10), """
def f(x):
    class Inner:
        exec("scale = 4.0")
        size = len([name for name in vars() if name[0] != "_"])
        locals()["rate"] = 3.0
    return x[0] * Inner.scale * Inner.rate + Inner.size * x[1]
"""),
    "closures and locals": ((3, 10), """
def f(x):
    y = x[0]
    def change():
        nonlocal y
        exec("y = 1.0")
        y = y * x[1]
        return sorted(locals())
    names = change()
    seen = dict(locals())
    seen["y"] = 0.0
    return y * len(names) + x[2] * len(seen)
"""),
    "fields that are replaced": ((3, 13), """
import copy
from dataclasses import dataclass

@dataclass(frozen=True)
class State:
    t: float
    u: float

def f(x):
    state = State(x[0], 0.0)
    for k in range(3):
        state = copy.replace(state, t=state.t * x[1], u=state.u + state.t)
    return state.u * state.t
"""),
    "defaults of parameters of types": ((3, 13), """
def scaled[T = float](v: T, by: T = 2.0) -> T:
    work = np.ones(2)
    work *= v
    return work.prod() * by

def f(x):
    return scaled(x[0], x[1]) + scaled(float(x[2]))
"""),
}  # fmt: skip


def imported(text, folder):
    path = folder / "written.py"
    path.write_text("import numpy as np\n" + text)
    spec = importlib.util.spec_from_file_location("written", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SOURCES)
def test_functions_have_the_value_and_slopes_of_the_plain_run(name, tmp_path):
    version, text = SOURCES[name]
    if sys.version_info < version:
        pytest.skip(f"the syntax of Python {version}")
    f = imported(text, tmp_path).f
    expected = f(POINT)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == expected and type(value) is type(expected)
    differences = [(f(POINT + e) - f(POINT - e)) / 2e-6 for e in np.eye(3) * 1e-6]
    assert gradient == pytest.approx(differences, rel=1e-6, abs=1e-8)
    assert f(POINT) == expected
