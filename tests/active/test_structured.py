# SPDX-License-Identifier: Apache-2.0
"""Structured arrays, and plain ones that an operator like += writes to: the error names them, and its cure works."""

import re

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

FIELDS = np.dtype([("u", float), ("v", float)])
OUTSIDE = np.ones(3, FIELDS)
PLAIN = np.ones(3)
HELD = np.array([None])
HELD[0] = PLAIN  # who has it there is not seen
X = np.array([0.5, 2.0, 3.0])


def start():
    return np.ones(3, FIELDS)


def adds(x):
    S = start()
    # cure
    S["u"] += x
    return np.sum(S["u"] * x)


def scales(x):
    S = start()
    # cure
    S["v"] *= x * x
    return np.sum(S["v"])


def stores(x):
    S = start()
    # cure
    S["u"] = x * 2.0
    return np.sum(S["u"] ** 2)


def stores_slice(x):
    S = start()
    # cure
    S["u"][1:] = x[1:] * x[0]
    return np.sum(S["u"] ** 2)


def stores_element(x):
    S = start()
    # cure
    S["u"][1] = x[1] * x[0]
    return S["u"][1]


def record(x):
    S = start()[0].copy()
    # cure
    S["u"] = x[1] * x[0]
    return S["u"] * S["v"]


def attribute(x):
    class Holder:
        pass

    self = Holder()
    self.S = start()
    # cure
    self.S["u"] -= x
    return np.sum(self.S["u"] ** 2)


def sources(f):
    import inspect

    return inspect.getsource(f)


@pytest.mark.parametrize("f", [adds, scales, stores, stores_slice, stores_element, record, attribute])
@pytest.mark.parametrize("rebind", [True, False])
def test_the_cure_works(f, rebind):
    with pytest.raises(ActiveError) as caught:
        codipy.grad(f, rebind=rebind)(X)
    text = str(caught.value)
    name = "self.S" if f is attribute else "S"
    assert f"`{name}` is a structured array" in text and "test_structured.py:" in text and "out=" not in text
    cure = re.search(r"field, `(.*?)`,", text).group(1)
    namespace = {"np": np, "codipy": codipy, "start": start}
    exec(sources(f).replace("# cure", cure), namespace)
    mended = namespace[f.__name__]
    assert mended(X) == pytest.approx(f(X))
    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(codipy.grad(mended, rebind=rebind)(X), expected, rtol=1e-6, atol=1e-6)


def test_one_of_the_module_is_not_made_a_local_variable():
    def f(x):
        OUTSIDE["u"] += x
        return np.sum(OUTSIDE["u"])

    with pytest.raises(ActiveError, match=r"`own = \{name: np\.array\(OUTSIDE\[name\]\) for name in OUTSIDE\.dtype"):
        codipy.grad(f)(X)


def test_record_arrays():
    def f(x):
        R = start().view(np.recarray)
        R.u = x
        return R.u.sum()

    with pytest.raises(ActiveError, match=r"`R` is a structured array, .*: `R\.u = x`\)"):
        codipy.grad(f)(X)


@pytest.mark.parametrize("rebind", [True, False])
def test_operators_that_write_name_the_array_and_the_line(rebind):
    def f(x):
        PLAIN[:2] *= x[:2]
        return np.sum(PLAIN)

    with pytest.raises(ActiveError, match=r"`PLAIN\[:2\]` is a plain array .*test_structured\.py:\d+: `PLAIN"):
        codipy.grad(f, rebind=rebind)(X)

    def out(x):
        return np.sum(np.add(x, 1.0, out=np.empty(3, FIELDS)["u"]))

    if rebind:      # what a call makes for itself is made an Array
        assert codipy.grad(out)(X).tolist() == np.ones(X.size).tolist()
        return
    with pytest.raises(ActiveError, match=r"out= is a plain array \(test_structured\.py:\d+: "):
        codipy.grad(out, rebind=rebind)(X)
