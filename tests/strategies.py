# SPDX-License-Identifier: Apache-2.0
"""The ways to record, for all tests: every list of strategies is one of these or is made from them."""

import pytest

import codipy
from codipy.tape.strategies.table import GRANULARITIES, STRATEGIES, stored_as

# (strategy, granularity) of what can be swept, the drivers' default first.
VARIANTS = [(s, g) for s in STRATEGIES for g in GRANULARITIES if (s, g) != ("simple", "statement")]
BY_STATEMENT = [(s, "operation" if s == "simple" else "statement") for s in STRATEGIES]  # one of each strategy
COUNTING = [s for s in STRATEGIES if s.endswith("-reuse")]  # identifiers are counted and handed back
LINEAR = [s for s in STRATEGIES if s not in COUNTING]
AS_JACOBIANS = [s for s in STRATEGIES if s == "auto" or s.startswith("jacobian")]  # how scalar statements are stored
AS_VALUES = [s for s in STRATEGIES if s not in AS_JACOBIANS]  # evaluate_primal() can repeat these
BUT_AUTO = [s for s in STRATEGIES if s != "auto"]
BUT_SIMPLE = [s for s in STRATEGIES if s != "simple"]  # which alone has statements of one operation only

FORWARD = [("forward", g) for g in GRANULARITIES]  # keeps nothing: what can be swept is in the lists above
COMPARED = VARIANTS + FORWARD  # what `check_derivatives` and `codipy compare` run

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
each_counting = pytest.mark.parametrize("strategy", COUNTING)
each_as_values = pytest.mark.parametrize("strategy", AS_VALUES)
each_as_jacobians = pytest.mark.parametrize("strategy", AS_JACOBIANS)


def kind_of(strategy):
    """How scalar statements are stored: jacobian, primal or simple."""
    return stored_as(strategy).removesuffix("-reuse")


def each_pair(names="variant", pairs=VARIANTS):
    """A parametrisation by (strategy, granularity), as one argument or as two."""
    return pytest.mark.parametrize(names, pairs, ids=map("-".join, pairs))


def new_tape(variant, *, chunk_size=4, reuse=True):
    """A tape of short chunks; without reuse, `auto` gives no identifiers of dead arrays to others: an oracle for it."""
    tape = codipy.Tape(*variant, chunk_size=chunk_size)
    tape.recycle = tape.recycle and reuse
    return tape
