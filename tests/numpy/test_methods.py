# SPDX-License-Identifier: Apache-2.0
"""The methods of Array: the same as numpy.ndarray's, by value and by gradient."""

import inspect

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.numpy.methods import METHODS
from tests.numpy.table import check

CASES = {
    "all": ["m.all()", "m.all(axis=0)"], "any": ["m.any(1)"], "argmax": ["m.argmax()", "m.argmax(0)"],
    "argmin": ["m.argmin(axis=1)"], "argpartition": ["x.argpartition(2)"], "argsort": ["m.argsort()",
               "m.argsort(axis=0)"],
    "choose": ["np.choose(np.array([0, 1]), [x[:2], y[:2]])"],
    "clip": ["x.clip(-0.5, 0.5)", "x.clip(min=0.0)", "m.clip(max=r)", "m.clip(None, 0.3)"],
    "compress": ["m.compress([True, False, True], axis=0)"], "conj": ["m.conj()"], "conjugate": ["m.conjugate()"],
    "cumprod": ["m.cumprod(axis=1)"], "cumsum": ["m.cumsum()", "m.cumsum(0)"], "diagonal": ["m.diagonal(1)"],
    "dot": ["x.dot(y)", "m.dot(n.T)", "q.dot(v)"], "max": ["m.max()", "m.max(axis=1, keepdims=True)"],
    "mean": ["m.mean()", "m.mean(0)", "m.mean(axis=1, keepdims=True)"], "min": ["m.min(0)"],
    "nonzero": ["(m > 0).nonzero()", "m.nonzero()"], "prod": ["x.prod()", "m.prod(axis=0)"],
    "repeat": ["x.repeat(2)", "m.repeat([1, 2, 0], axis=0)"], "round": ["x.round(1)", "m.round()"],
    "searchsorted": ["u.searchsorted(x)"], "squeeze": ["b.squeeze()"], "std": ["m.std()", "m.std(axis=0, ddof=1)"],
    "sum": ["m.sum()", "m.sum(0)", "t.sum(axis=(0, 2), keepdims=True)", "m.sum(None, None, None, True)",
            "m.sum(initial=2.0)", "m.sum(0, None, None, True, 1.0, m > 0.5)"],
    "swapaxes": ["t.swapaxes(0, 2)"], "take": ["m.take(k, axis=1)", "x.take([0, 4])"], "trace": ["q.trace()",
                 "t.trace(0, 1, 2)"],
    "var": ["m.var(1)", "x.var(ddof=1)"], "ravel": ["m.T.ravel()"], "flatten": ["m.flatten()"],
    "reshape": ["m.reshape(4, 3)", "m.reshape((2, -1))"], "transpose": ["t.transpose(1, 0, 2)", "m.T"],
                "copy": ["m.copy()"],
    "astype": ["x.astype(float)"],
}  # fmt: skip
ELSEWHERE = {"sort", "partition", "put", "ptp", "byteswap", "resize", "setfield", "getfield",
             "to_device", "__array_namespace__"}  # fmt: skip


@pytest.mark.parametrize("text", [text for texts in CASES.values() for text in texts])
def test_value_and_gradient(text):
    check(text)


def test_every_method_has_a_case():
    assert sorted(METHODS.keys() - CASES.keys() - ELSEWHERE) == []


def test_every_method_of_ndarray_is_here():
    """What an ndarray can do, an Array can do or refuses by name."""
    methods = {name for name, _ in inspect.getmembers(np.ndarray, inspect.ismethoddescriptor) if name[0] != "_"}
    missing = sorted(name for name in methods if name not in METHODS and not hasattr(Array, name))
    in_the_class = {"setflags", "to_device", "view", "tobytes", "tofile", "dump", "dumps", "tostring"}
    assert sorted(set(missing) - in_the_class) == []


def test_sorting_in_place():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([3.0, 1.0, 2.0]))
        y = x.copy()
        assert y.sort() is None
        z = tape.register_output(y * np.array([1.0, 10.0, 100.0]))
    assert y.value.tolist() == [1.0, 2.0, 3.0]
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [100.0, 1.0, 10.0]


@pytest.mark.parametrize("name", ["tobytes", "tofile", "dump", "byteswap"])
def test_methods_that_would_lose_the_derivative(name):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(2))
        with pytest.raises(ActiveError, match=name):
            getattr(x, name)("file")


def test_ptp_is_there_although_numpy_dropped_it():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([3.0, 1.0, 2.0]))
        y = tape.register_output(x.ptp())
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [1.0, -1.0, 0.0]
    assert Array([1.0]).tobytes() == np.ones(1).tobytes()
