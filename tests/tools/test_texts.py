# SPDX-License-Identifier: Apache-2.0
"""Texts of active values in rebound code are those of the plain run, whoever formats; elsewhere they name the tape."""

import collections
import dataclasses
import json
import logging
import pprint
import re
import reprlib

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.strategies import each_strategy

POINT = np.array([0.5, -1.5, 2.0e-30])
Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Held:
    number: object
    array: object


def logged(x):
    record = logging.LogRecord("name", 20, "path", 1, "%r and %s", (x[0], x[1]), None)
    return record.getMessage()


TEXTS = {
    "repr": lambda x: repr(x[0]),
    "ascii": lambda x: ascii(x[1]),
    "f-string": lambda x: f"{x[0]!r} {x[1]!s} {x[2]} {x[0]:.3f} {x!r}",
    "format": lambda x: "{!r} {}".format(x[0], x[1]),  # noqa: UP032
    "percent": lambda x: "%r %s %r" % (x[0], x[1], x),  # noqa: UP031
    "list": lambda x: str([x[0], (x[1], {"a": x[2]})]),
    "list of floats": lambda x: str(x.tolist()) + repr([float(x[0]), x[1].item()]),
    "float": lambda x: repr(float(x[0]) * 2.0),
    "float32": lambda x: repr(np.float32(x[0])) + repr(x.astype(np.float32)),
    "array": lambda x: repr(x) + str(x) + repr(x.reshape(3, 1)[1:]) + repr(np.sin(x)),
    "scalar": lambda x: repr(np.sum(x)) + repr(np.sin(x[0])) + repr(x.max()),
    "passive": lambda x: repr(np.zeros(2)) + repr(np.zeros(2)[0]),
    "namedtuple": lambda x: repr(Pair(x[0], x[1])),
    "dataclass": lambda x: repr(Held(x[0], x)),
    "logging": logged,
    "pprint": lambda x: pprint.pformat([x[0], x]),
    "reprlib": lambda x: reprlib.repr([x[0], x[1]]),
    "dict": lambda x: repr({"x": x[0], "y": [x[1]]}),
    "named": lambda x: repr(x[0]).startswith("np.float64"),
}


@each_strategy
@pytest.mark.parametrize("name", TEXTS)
def test_the_text_of_the_plain_run(name, strategy):
    seen = []

    def f(x):
        seen.append(TEXTS[name](x))
        return x[0] * 1.0

    f(POINT)
    codipy.grad(f, strategy=strategy)(POINT)
    assert seen[0] == seen[1]


def test_a_function_that_names_nothing():
    """It is not rebuilt, since nothing in it would change, but the driver runs it."""
    seen = []

    def inner(x, write):
        write(f"{x!r}")
        return x * x

    codipy.grad(inner)(2.0, seen.append)
    codipy.rebind(inner)(2.0, seen.append)
    assert seen == ["2.0", "2.0"]


def test_elsewhere_a_text_names_the_tape():
    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(2.0))
        a = tape.register_input(POINT)
        assert re.fullmatch(r"Real\(2\.0, active on auto tape \d+\)", repr(x))
        assert repr(a).startswith("Array([") and repr(a).endswith("active)")
    seen = []
    codipy.grad(lambda x: seen.append(repr(x)) or x * x, rebind=False)(2.0)
    assert seen[0].startswith("Real(2.0, active on")


def test_errors_name_the_variable_also_in_rebound_code():
    kept = []

    def f(x):
        kept.append(np.sin(x[0]))
        return kept[0] * x[1]

    gradient = codipy.grad(f)
    gradient(POINT)
    with pytest.raises(TapeError, match=r"`kept\[0\]` is from an earlier call"):
        gradient(POINT)


def test_json_of_an_active_number_says_what_to_write():
    with pytest.raises(ActiveError, match=r"json was given .* \(test_texts.py:.*default=codipy.value"):
        codipy.grad(lambda x: x * len(json.dumps({"loss": x})))(2.0)

    def caught(x):
        try:
            json.dumps({"loss": float(x)})
        except (TypeError, ValueError):
            return x * 10.0
        return x

    assert caught(2.0) == 2.0
    with pytest.raises(ActiveError, match="an error of codipy was caught .*json was given an active number"):
        codipy.grad(caught)(2.0)
    text = '{"loss": 2.0, "rows": [[3.0]]}'
    f = codipy.value_and_grad(lambda x: x * len(json.dumps({"loss": float(x), "rows": [[x + 1.0]]},
                                                           default=codipy.value)))
    assert f(2.0) == (2.0 * len(text), len(text))
