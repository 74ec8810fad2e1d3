# SPDX-License-Identifier: Apache-2.0
"""Every case of every function with arguments that lie in memory in another way than C's: the same elements.

Values are NumPy's at the same layout, bit for bit; gradients are those of the same case in C's order, which other tests
compare with differences. What writes into ``result.reshape(-1)`` where the result lies as its argument does fails here.
"""

import functools
import itertools

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from tests.numpy.cases_movement import CASES as MOVEMENT
from tests.numpy.cases_movement import PASSIVE
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.cases_ufuncs import CALLS, METHODS
from tests.numpy.table import active_of, evaluate, inputs, leaves, names_in, plain_values, same, weights_for
from tests.numpy.test_methods import CASES as METHODS_OF_ARRAYS

pytestmark = pytest.mark.filterwarnings("ignore")
TEXTS = [text for cases in (MOVEMENT, RULES, PASSIVE, METHODS_OF_ARRAYS) for texts in cases.values() for text in texts]
LAYOUTS = {
    "Fortran": lambda x: x.T.copy().T,
    "reversed": lambda x: x[::-1].copy()[::-1],
    "last axis reversed": lambda x: x[..., ::-1].copy()[..., ::-1],
    "gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "Fortran with gaps": lambda x: np.repeat(x, 2, axis=-1).T.copy().T[..., ::2],
}
OVERLAPPING = ("broadcast_to", "broadcast_arrays", "sliding_window_view", "meshgrid")  # `.value` shows no element twice
KINDS = {"float64": lambda x: x, "float32": lambda x: x.astype(np.float32)}


def laid(values, layout, kind):
    """The variables of a case, those with dimensions in another layout; `r` is a number."""
    place, convert = LAYOUTS.get(layout, lambda x: x), KINDS[kind]
    return {name: x if name == "r" else convert(place(x) if np.ndim(x) else x) for name, x in values.items()}


def axes_in_order(x):
    """The axes as they lie in memory."""
    return [k for k in np.argsort(np.abs(x.strides), kind="stable") if x.shape[k] > 1] if x.size else []


def gradients(text, layout, kind):
    """The results, and the gradient of a weighted sum of them by each input."""
    tape, names = codipy.Tape(), names_in(text)
    with tape:
        active = inputs(tape, names)
        results = leaves(evaluate(text, laid(active, layout, kind)))
        total, active_results = 0.0, [y for _, y in active_of(results)]
        for y, weight in zip(active_results, weights_for([codipy.value(y) for y in active_results])):
            total = total + np.sum(y * weight)
        if isinstance(total, codipy.Real):
            tape.register_output(total)
    if not isinstance(total, codipy.Real):
        return results, {}
    total.gradient = 1.0
    tape.evaluate()
    return results, {name: np.asarray(x.gradient) for name, x in active.items()}


@functools.cache
def in_c_order(text, kind):
    """The gradients of a case in C's order, with which those of all layouts are compared; None where it is refused."""
    try:
        return gradients(text, "C", kind)[1]
    except codipy.ActiveError:
        return None


@pytest.mark.parametrize(("layout", "kind"), [*((layout, "float64") for layout in LAYOUTS), ("in turn", "float32")])
def test_arguments_that_lie_otherwise(layout, kind):
    tried, one_for_all = 0, layout
    for text, in_turn in zip([*TEXTS, *CALLS, *METHODS], itertools.cycle(LAYOUTS)):
        layout = in_turn if one_for_all == "in turn" else one_for_all
        try:
            expected = leaves(evaluate(text, laid(plain_values(names_in(text)), layout, kind)))
        except (ValueError, TypeError, AttributeError):
            continue  # NumPy refuses the case: the views cannot be reshaped in place, or the function has gone
        in_order = in_c_order(text, kind)
        if in_order is None:
            assert kind == "float32", text
            continue  # refused in this precision, whatever the layout
        results, found = gradients(text, layout, kind)
        assert len(results) == len(expected), text
        for y, wanted in zip(results, expected):
            assert same(y, wanted), f"{text}: {y!r} is not {wanted!r}"
            if type(y) is Array and not any(name in text for name in OVERLAPPING):
                assert axes_in_order(y.value) == axes_in_order(wanted), text
        for name, gradient in in_order.items():
            exact = {"rtol": 1e-9, "atol": 1e-11} if kind == "float64" else {"rtol": 1e-4, "atol": 1e-4}
            here = found.get(name, np.zeros(gradient.shape))  # a copy of no elements depends on nothing
            np.testing.assert_allclose(here, gradient, **exact, err_msg=f"{text}, gradient of {name}")
        tried += 1
    assert tried > 700
