# SPDX-License-Identifier: Apache-2.0
"""Modules of a user whose functions fill arrays, written to a file since functions are compiled from their source."""

import importlib.util
import sys
import textwrap

import pytest

import codipy

HEAD = """
import collections, copy, dataclasses, functools, io, pickle, types
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


@pytest.fixture
def user_module(tmp_path, monkeypatch):
    """Makes a module of functions, each given by its lines. `tests/tools/conftest.py` lends it to all tests here."""

    def make(programs, head=""):
        text = head + "\n".join(function(k, *lines) for k, lines in enumerate(programs))
        module = module_of(tmp_path, "filled_arrays_of_the_user", text)
        monkeypatch.delitem(sys.modules, module.__name__)
        return module

    return make
