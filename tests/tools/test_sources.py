# SPDX-License-Identifier: Apache-2.0
"""Functions are found in their sources, wherever they stand, and only if the source is what they were made of."""

import importlib.util
import linecache
import sys

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.tools.filled import check

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
