# SPDX-License-Identifier: Apache-2.0
"""Fits of growth against known exponents, their confidence against many draws, overtakings where lines cross."""

import numpy as np
import pytest

from codipy.laboratory.fits import fit_power, fits_of, overtakings_of
from codipy.laboratory.measurement import Measurement
from codipy.laboratory.plan import Combination, Point


def row(strategy, size, used=0, seconds=(), steps=None, numbers=1):
    """A measurement that was made up."""
    asked = Combination(Point(f"n={size}", size, steps), strategy, "statement")
    return Measurement(asked, used=used, numbers=numbers, plain=[1.0] * len(seconds), seconds={"record": list(seconds)})


def test_known_exponents_come_out():
    points = {"size": [10, 10, 100, 100, 1000], "steps": [1, 8, 1, 8, 4]}
    values = [3.0 * n**1.5 * k**0.5 for n, k in zip(*points.values())]
    factor, exponents, halves = fit_power(points, values)
    assert factor == pytest.approx(3.0) and exponents == pytest.approx({"size": 1.5, "steps": 0.5})
    assert max(halves.values()) < 1e-10


def test_too_few_points_give_no_confidence_and_no_fit():
    factor, exponents, halves = fit_power({"size": [10, 100]}, [1.0, 10.0])
    assert (factor, exponents["size"], halves["size"]) == (pytest.approx(0.1), pytest.approx(1.0), None)
    assert fit_power({"size": [10]}, [1.0]) is None
    assert fit_power({"size": [10, 100, 1000], "steps": [1, 10, 100]}, [1.0, 2.0, 3.0]) is None      # both as one


@pytest.mark.parametrize("count", [3, 5, 40])
def test_the_intervals_hold_the_truth_in_95_of_100_cases(count):
    random, sizes, held = np.random.default_rng(count), np.geomspace(10, 1e4, count), 0
    for _ in range(1000):
        _, exponents, halves = fit_power({"size": sizes}, 2.0 * sizes**1.2 * np.exp(random.normal(0.0, 0.1, count)))
        held += abs(exponents["size"] - 1.2) <= halves["size"]
    assert 925 <= held <= 975      # 950 and three and a half standard deviations


def test_every_way_gets_its_fit():
    rows = [row(strategy, n, used=factor * n**power) for n in (10, 100, 1000)
            for strategy, factor, power in (("primal", 8, 1), ("jacobian", 2, 2))]
    found = {(fit.metric, fit.way[0]): fit for fit in fits_of(rows)}
    assert found["bytes used", "jacobian"].exponents["size"] == pytest.approx(2.0)
    assert found["bytes used", "primal"].at(500) == pytest.approx(4000.0)
    assert str(found["bytes used", "primal"]) == "size^1.00 ± 0.00"


def test_lines_that_cross_are_named_with_the_place():
    rows = [row(strategy, n, used=round(factor * n**power)) for n in (10, 100, 1000)
            for strategy, factor, power in (("primal", 400, 1), ("jacobian", 8, 2), ("simple", 10**9, 1))]
    [found] = overtakings_of(rows)
    assert (found.winner[0], found.loser[0], found.below, found.above) == ("primal", "jacobian", 10, 100)
    assert found.near == pytest.approx(50.0, rel=1e-3) and found.sure
    assert str(found) == ("bytes used: primal statement gets below jacobian statement near size 50 (measured at 10 and "
                          "100)")


def timed(strategy, size, seconds, plain=1.0):
    """Record's seconds, three times with a spread of one percent, beside plain runs of the same process."""
    found = row(strategy, size, seconds=[seconds * k for k in (0.99, 1.0, 1.01)])
    found.plain = [plain * k for k in (0.99, 1.0, 1.01)]
    return found


@pytest.mark.parametrize(("before", "after", "plain", "said"), [
    ((2.0, 1.8), (4.0, 4.4), 1.0, [True]),
    ((2.0, 1.99), (4.0, 4.4), 1.0, [False]),       # a difference on one side only
    ((2.0, 1.99), (4.0, 4.02), 1.0, []),           # noise on both: two names of one program
    ((2.0, 1.8), (4.0, 4.4), 1.2, []),             # the plain run differs by as much from process to process
])
def test_what_the_noise_hides_is_no_sure_overtaking(before, after, plain, said):
    rows = [timed(strategy, n, times[k], 1.0 if k else plain) for n, times in ((10, before), (100, after))
            for k, strategy in enumerate(("primal", "jacobian"))]
    found = overtakings_of(rows, ["gradient time"])
    assert [one.sure for one in found] == said
    assert all(("as far as" in str(one)) != one.sure for one in found)
    assert len(overtakings_of(rows, ["gradient time"], winners_only=False)) == 1


def test_one_program_under_two_names_overtakes_itself_for_sure_in_few_studies():
    """Each process has a layout of memory of its own: its times lie near to one another, far from the next one's."""
    random, claimed = np.random.default_rng(3), 0
    for _ in range(200):
        rows = []
        for n in (10, 100, 1000, 10000):
            for strategy in ("a", "b"):
                process = n * np.exp(random.normal(0.0, 0.1))
                rows.append(row(strategy, n, seconds=process * np.exp(random.normal(0.0, 0.005, 7))))
                rows[-1].plain = list(process * np.exp(random.normal(0.0, 0.005, 7)))
        claimed += any(found.sure for found in overtakings_of(rows, ["gradient time"], winners_only=False))
    assert claimed <= 20


def test_ways_of_one_width_are_compared():
    """A sweep in four directions takes more than one in one, whatever the strategy."""
    def at(strategy, width, used):
        rows = [row(strategy, n, used=bytes_used) for n, bytes_used in zip((10, 100), used)]
        for each in rows:
            each.combination = Combination(each.combination.point, strategy, "statement", None, width)
        return rows

    rows = at("a", 1, (1, 9)) + at("b", 1, (2, 10)) + at("a", 4, (30, 90)) + at("b", 4, (40, 80))
    [found] = overtakings_of(rows)
    assert (found.winner, found.loser) == (("b", "statement", None, 4), ("a", "statement", None, 4))
    assert not any(found.winner[3] != found.loser[3] for found in overtakings_of(rows, winners_only=False))


def test_every_pair_is_found_where_all_are_asked_for():
    rows = [row(strategy, n, used=used) for strategy, pair in (("a", (1, 9)), ("b", (2, 8)), ("c", (3, 7)))
            for n, used in zip((10, 100), pair)]
    assert [(found.winner[0], found.loser[0]) for found in overtakings_of(rows)] == [("c", "a")]
    pairs = {(found.winner[0], found.loser[0]) for found in overtakings_of(rows, winners_only=False)}
    assert pairs == {("b", "a"), ("c", "a"), ("c", "b")}


def test_steps_are_kept_apart():
    rows = [row(strategy, n, used=used, steps=steps) for steps, factor in ((1, 1), (9, 2))
            for strategy, pair in (("a", (1, 9 * factor)), ("b", (8, 9 + steps))) for n, used in zip((10, 100), pair)]
    assert [(found.winner[0], found.steps) for found in overtakings_of(rows)] == []
    rows[-1].used = 12      # b at 100 and 9 steps, where a needs 18
    assert [(found.winner[0], found.steps) for found in overtakings_of(rows)] == [("b", 9)]


MB = 1 << 20


def grown(strategy, size, growth):
    found = row(strategy, size)
    found.baseline, found.peak = 30 * MB, 30 * MB + round(growth)
    return found


def plain(size, growth):
    found = grown("plain", size, growth)
    found.combination = Combination(found.combination.point, "plain", "-")
    assert found.is_plain
    return found


def test_what_a_process_takes_anyway_is_no_growth():
    """Pages of the plain run, and half a megabyte more or less: nobody overtakes by that, and no exponent says it."""
    noise = {"jacobian": (0.3, -0.2, 0.1), "primal": (-0.2, 0.3, -0.1)}
    rows = [plain(n, 8 * MB) for n in (10, 100, 1000)]
    rows += [grown(strategy, n, (8 + 3 + more) * MB) for strategy, those in noise.items()
             for n, more in zip((10, 100, 1000), those)]
    assert fits_of(rows) == overtakings_of(rows, ("peak growth",)) == []


def test_growth_over_the_plain_run_is_fitted():
    rows = [plain(n, 8 * MB) for n in (10, 100, 1000)]
    rows += [grown(strategy, n, 8 * MB + factor * MB * n**power) for n in (10, 100, 1000)
             for strategy, factor, power in (("primal", 4.0, 1), ("jacobian", 0.2, 2))]
    found = {fit.way[0]: fit for fit in fits_of(rows)}
    assert found["primal"].exponents["size"] == pytest.approx(1.0, abs=1e-6)
    assert found["jacobian"].exponents["size"] == pytest.approx(2.0, abs=1e-6)
    [crossed] = overtakings_of(rows, ("peak growth",))
    assert (crossed.winner[0], crossed.below, crossed.above) == ("primal", 10, 100)
