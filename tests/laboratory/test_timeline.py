# SPDX-License-Identifier: Apache-2.0
"""A timeline says how a tape grows line by line, how many operands are passive, and what activity analysis saved."""

import json
import math

import numpy as np
import pytest

import codipy
from codipy.laboratory.sampled import sampled
from codipy.tools.measuring import StatefulError
from tests.strategies import COMPARED, each_pair

RUNS = []


def model(x, k):
    z = 0.0
    for _ in range(5):
        rate = k * k
        z = z + np.sin(x) * rate
    return z * x


def field(u, dt):
    for _ in range(4):
        u = u + dt * (np.roll(u, 1) - u)
    return (u * u).sum()


@each_pair(pairs=COMPARED)
def test_the_last_sample_is_the_whole_recording(variant):
    strategy, granularity = variant
    found = codipy.timeline(model, 0.5, 2.0, strategy=strategy, granularity=granularity)
    tape = codipy.Tape(strategy, granularity)
    with tape:
        x, k = tape.register_input(0.5), tape.register_input(2.0)
        y = tape.register_output(model(x, k))
        statistics, statements = tape.statistics(), tape.statements if strategy != "forward" else 0
    last = found.samples[-1]
    assert last.lines == 18 and y.is_active
    assert (last.statements, last.largest) == (statements, statistics["identifiers"].counts["largest index"])
    assert last.used == statistics.total.used
    for name in ("lines", "statements", "largest"):
        column = [getattr(sample, name) for sample in found.samples]
        assert column == sorted(column)


def test_shares_and_savings_are_those_counted_by_hand():
    # Each step is sin(x), that times rate, and a sum: 4 operands that are active, or 3 in the first, and rate.
    found = codipy.timeline(model, 0.5, 2.0, argnums=0)
    assert found.saved[-1] == 5      # k * k, each time
    assert found.passive[-1] == pytest.approx((5 + 1) / (5 * 5 + 2))
    every = codipy.timeline(model, 0.5, 2.0)
    assert every.saved[-1] == 0
    assert every.passive[-1] == pytest.approx(1 / (5 * 7 + 2))
    assert math.isnan(found.passive[0])


def test_arrays_count_as_one_operand():
    found = codipy.timeline(field, np.arange(6.0), 0.1, argnums=(0,))
    # In each step the two pieces that roll copies, and the operands of -, * and +, of which dt is passive.
    assert found.passive[-1] == pytest.approx(4 / (4 * (2 + 6) + 2))
    assert found.saved[-1] == 0


def test_all_forms_have_the_same_numbers():
    found = codipy.timeline(model, 0.5, 2.0, argnums=0)
    rows = found.rows()
    stored = json.loads(found.to_json())
    assert stored["rows"][-1] == list(rows[-1]) and stored["rows"][0][5] is None
    header, *lines = found.to_csv().splitlines()
    assert header.split(",") == stored["columns"] and len(lines) == len(rows)
    assert lines[-1].split(",")[1] == str(rows[-1][1])
    assert str(found).splitlines()[-1].split()[:2] == [str(rows[-1][0]), str(rows[-1][1])]
    page = found._repr_html_()
    assert page.startswith("<iframe") and page.count("&lt;svg") == 4 and "<svg" not in page


def test_samples_are_thinned_evenly():
    found = codipy.timeline(model, 0.5, 2.0, samples=4)
    steps = np.diff([sample.lines for sample in found.samples[:-1]])
    assert len(found.samples) <= 9 and len(set(steps)) == 1


def test_arguments_stay_as_they_are_and_wrong_ones_are_refused():
    def fills(u):
        u[0] = 3.0
        return u.sum()

    u = np.zeros(3)
    codipy.timeline(fills, u)
    assert not u.any()
    with pytest.raises(ValueError, match="argnums must name some of the 1 arguments"):
        codipy.timeline(fills, u, argnums=1)
    with pytest.raises(TypeError, match=r"f must be a function, got float: say codipy.timeline\(f, x\)"):
        codipy.timeline(3.0)
    with pytest.raises(TypeError, match=r"f must be a function, got float: say codipy.debug\(f, x\)"):
        codipy.debug(3.0)
    with pytest.raises(ValueError, match="samples must be a positive int"):
        codipy.timeline(fills, u, samples=0)


def test_a_function_that_runs_other_lines_each_time_is_refused():
    def restless(x):
        RUNS.append(0)
        for _ in range(len(RUNS)):
            x = x * 2.0
        return x

    with pytest.raises(StatefulError, match="does not run the same lines each time"):
        codipy.timeline(restless, 1.0)


def test_a_run_that_raises_leaves_no_trace_behind():
    import sys
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        sampled(codipy.Tape(), lambda: 1 / 0)
    assert sys.gettrace() is before
