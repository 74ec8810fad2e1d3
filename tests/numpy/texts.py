# SPDX-License-Identifier: Apache-2.0
"""Calls of every function of NumPy that has rules, for tests of what is made from rules."""

import itertools

from tests.covering import of_each
from tests.numpy import cases_ufuncs
from tests.numpy.cases_movement import CASES as MOVEMENT
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.table import is_float, names_in, plain_results, plain_values

GROUPS = [texts for cases in (MOVEMENT, RULES) for texts in cases.values()]
for calls in (cases_ufuncs.CALLS, cases_ufuncs.METHODS):
    GROUPS += [list(group) for _, group in itertools.groupby(sorted(calls), lambda text: text.partition("(")[0])]


def has_derivatives(text):
    """Whether floating point numbers come out that are made from others."""
    return not set(names_in(text)) <= {"e"} and any(map(is_float, plain_results(text, plain_values(names_in(text)))))


def texts(turn, turns):
    """A call of each function, and one in so many of the others: the tests of this folder take them all."""
    return list(filter(has_derivatives, of_each(GROUPS, turn, turns)))
