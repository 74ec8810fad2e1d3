# SPDX-License-Identifier: Apache-2.0
"""NumPy's own list of overridable functions: each is in exactly one set, and each that works has a case."""

import itertools

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.numpy.functions import SETS, array_function
from codipy.numpy.refused import MODULES, NEWER
from tests.numpy.cases_movement import CASES as MOVEMENT
from tests.numpy.cases_movement import PASSIVE
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.overridable import OVERRIDABLE, set_of

# Work, and are tested by other files of this folder: they write, or they read files.
ELSEWHERE = {"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "fromfile", "sort_complex"}


def test_every_function_is_in_exactly_one_set():
    assert sorted(name for name in OVERRIDABLE if set_of(name) is None) == []
    for one, two in itertools.combinations(SETS, 2):
        assert SETS[one].keys() & SETS[two].keys() == set()


def test_no_set_names_what_numpy_does_not_have():
    named = {name for names in SETS.values() for name in names}
    assert sorted(name for name in named - OVERRIDABLE.keys() if not _exists(name)) == []


def _exists(name):
    """A function of NumPy that this version does not let us override."""
    found = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return callable(found)


def test_what_works_has_a_case():
    works = {name for kind in ("differentiable", "movement", "passive") for name in SETS[kind] if name in OVERRIDABLE}
    assert sorted(works - {*MOVEMENT, *PASSIVE, *RULES, *ELSEWHERE}) == []
    assert len(works) >= 250


@pytest.mark.parametrize("name", sorted(name for name in OVERRIDABLE if set_of(name) == "refused"))
def test_a_refusal_says_what_to_write(name):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones((2, 2)))
        with pytest.raises(ActiveError, match=name.split(".")[-1]) as caught:
            array_function(OVERRIDABLE[name], (Array,), (x,), {})
    assert any(word in str(caught.value) for word in ("codipy.value(x)", "write", "keep", "use", "take"))


def test_text_is_refused_by_module():
    named = SETS["refused"].keys() | NEWER.keys()
    others = {name.split(".")[0] for name in OVERRIDABLE if set_of(name) == "refused" and name not in named}
    assert others <= MODULES.keys()


def test_an_unknown_function_is_named():
    def invented(x):
        return x

    invented.__module__ = "numpy"
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(2))
        with pytest.raises(ActiveError, match=r"np\.invented: codipy has no derivative"):
            array_function(invented, (Array,), (x,), {})
    assert array_function(invented, (Array,), (Array([1.0]),), {}) == [1.0]
