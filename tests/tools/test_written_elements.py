# SPDX-License-Identifier: Apache-2.0
"""Elements of passive arrays in `json` and `sqlite3`, which write floats: what they write in the plain run."""

import io
import json
import sqlite3
from json import dumps

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError


def written(x):
    w = np.zeros(3)
    w[1] = 0.1
    file = io.StringIO()
    json.dump({"k": [w[1], {"n": (w[2],)}]}, file)
    found = [file.getvalue(), json.dumps({"a": w[1], "b": [w[0], 1]}, indent=1), dumps(w.tolist()), dumps(w.sum()),
             json.dumps([w[1], {1}], default=lambda one: [*one, w[2]]), json.dumps({w[1]: 1})]  # fmt: skip
    with sqlite3.connect(":memory:") as base:
        base.execute("create table t (a real, b real)")
        base.execute("insert into t values (?, ?)", (w[1], w.sum()))
        base.executemany("insert into t values (?, ?)", [(w[1], 2.0)])
        found.append(base.execute("select * from t").fetchall())
    base.close()
    return x * x, found


def test_passive_elements_are_written_as_floats():
    seen = []

    def loss(x):
        value, found = written(x)
        seen.append(found)
        return value

    assert codipy.grad(loss)(3.0) == 6.0
    assert seen == [written(3.0)[1]]


def test_what_json_refuses_it_refuses():
    def loss(x):
        w, within = np.zeros(2, np.float32), []
        within.append(within)
        with pytest.raises(TypeError, match="float32 is not JSON"):
            json.dumps([w[0]])
        with pytest.raises(ValueError, match="Circular"):
            json.dumps(within)
        return x

    assert codipy.grad(loss)(1.0) == 1.0
    with pytest.raises(ActiveError, match="json"):
        codipy.grad(lambda x: x * len(json.dumps({"a": x})))(1.0)
