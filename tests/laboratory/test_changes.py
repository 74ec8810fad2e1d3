# SPDX-License-Identifier: Apache-2.0
"""What changed between two studies: bytes to the byte, times beyond their noise; noise is found to be noise."""

import copy

import numpy as np
import pytest

from codipy import cli
from codipy.laboratory import Study, StudyError, changes
from codipy.laboratory.measurement import Measurement
from codipy.laboratory.plan import PLAIN, Combination, Point

WAYS = [(strategy, granularity) for strategy in ("jacobian", "primal") for granularity in ("statement", "operation")]
HEADER = {"codipy": "0.1.0", "python": "3.11", "processor": "one", "date": "today"}


def made_up(random, noise=0.05, between=0.02, repeat=9):
    """A study whose times are drawn: `noise` within a process, `between` processes."""
    rows = []
    for n in (10, 100):
        for way in [(PLAIN, "-"), *WAYS]:
            process = np.exp(random.normal(0.0, between, 3))
            draws = 1e-3 * n * process[:, None] * np.exp(random.normal(0.0, noise, (3, repeat)))
            seconds = {} if way[0] == PLAIN else {"record": (2.0 * draws[1]).tolist(), "reverse": draws[2].tolist()}
            rows.append(Measurement(Combination(Point(f"n={n}", n), *way), plain=draws[0].tolist(), seconds=seconds,
                                    used=100 * n, allocated=128 * n, statements=n, baseline=40 << 20,
                                    peak=(40 << 20) + 100 * n))
    return Study("f", dict(HEADER), rows)


def test_a_study_and_itself_are_the_same():
    study = made_up(np.random.default_rng(0))
    found = changes(study, study)
    assert found.changed == [] and found.circumstances == {} and found.only_before == found.only_after == []
    assert len(found.compared) > 50 and "0 changed" in str(found)


def test_noise_is_no_change():
    """Of 200 pairs of studies of one program a few say something by chance; each has 16 times over plain."""
    random = np.random.default_rng(1)
    alarms = sum(bool(changes(made_up(random), made_up(random)).changed) for _ in range(200))
    assert alarms <= 20


def test_what_is_slower_is_found():
    random, found = np.random.default_rng(2), 0
    for _ in range(50):
        before, after = made_up(random, noise=0.02, between=0.01), made_up(random, noise=0.02, between=0.01)
        after.rows[1].seconds["reverse"] = [1.3 * seconds for seconds in after.rows[1].seconds["reverse"]]
        titles = {(change.title, change.quantity) for change in changes(before, after).changed}
        found += ("jacobian, statement at n=10", "reverse over plain") in titles
    assert found >= 45


def test_bytes_have_no_noise():
    before = made_up(np.random.default_rng(3))
    after = copy.deepcopy(before)
    after.rows[2].used += 1
    after.rows[2].peak += 500_000      # less than the pages that come and go
    after.rows[3].peak += 5_000_000
    found = {(change.title, change.quantity): change for change in changes(before, after).changed}
    assert set(found) == {("jacobian, operation at n=10", "used"),
                          ("primal, statement at n=10", "growth of the process")}
    assert found["jacobian, operation at n=10", "used"].after == 1001


def test_what_is_in_one_only_and_what_is_not_the_same_is_said():
    before, after = made_up(np.random.default_rng(4)), made_up(np.random.default_rng(4))
    after.header["processor"] = "another"
    del before.rows[-1], after.rows[1]
    found = changes(before, after)
    assert found.circumstances == {"processor": ["one", "another"]}
    assert found.only_before == ["jacobian, statement at n=10"] and found.only_after == ["primal, operation at n=100"]
    text = " ".join(str(found).split())
    assert "Not the same: processor, 'one' -> 'another'" in text and "Only after: primal, operation at n=100" in text


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_forms(form):
    before = made_up(np.random.default_rng(5))
    after = copy.deepcopy(before)
    after.rows[2].used *= 2
    assert "+100.0" in changes(before, after).table(form, 80)
    assert changes(before, after).to_dict()["compared"][0]["unit"] == "B"


def test_what_fails_after_is_said_and_no_success(tmp_path, capsys):
    before = made_up(np.random.default_rng(7))
    after = copy.deepcopy(before)
    after.rows[1] = Measurement(after.rows[1].combination, error="ValueError: no")
    after.disagreements = ["primal, statement disagrees"]
    found = changes(before, after)
    assert found.only_before == found.only_after == found.changed == found.wrong_before == []
    assert found.wrong_after == ["jacobian, statement at n=10 failed: ValueError: no", "primal, statement disagrees"]
    assert found.is_worse and not changes(after, after).is_worse and not changes(after, before).is_worse
    assert "Wrong after: primal, statement disagrees" in str(found)
    for name, study in (("a", before), ("b", after)):
        (tmp_path / name).write_text(study.to_json())
    assert cli.main(["study", "--compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 1
    assert cli.main(["study", "--compare", str(tmp_path / "b"), str(tmp_path / "b")]) == 0
    assert "Wrong before: primal, statement disagrees" in capsys.readouterr().out


def test_another_value_is_a_change():
    before = made_up(np.random.default_rng(8))
    before.rows[0].value = 2.0
    after = copy.deepcopy(before)
    after.rows[0].value = 2.0 * (1.0 + 1e-15)      # another machine's rounding
    assert changes(before, after).changed == []
    for value in (2.0 + 1e-9, float("nan"), float("inf"), -2.0):
        after.rows[0].value = value
        changed = changes(before, after).changed
        assert [(change.title, change.quantity) for change in changed] == [("plain at n=10", "value")]
        assert repr(value) in str(changes(before, after))
        assert "nan" not in "".join(changed[0].cells()[4:])
        assert changes(after, after).changed == []


def test_studies_of_other_sizes_are_not_the_same():
    before = made_up(np.random.default_rng(9))
    after = copy.deepcopy(before)
    before.rows, after.rows = before.rows[:5], after.rows[5:]
    with pytest.raises(StudyError, match="share no combination. One has n=10, the other n=100"):
        changes(before, after)


def test_sentences_beside_a_table_of_latex_are_comments():
    before = made_up(np.random.default_rng(10))
    after = copy.deepcopy(before)
    after.rows[1].used += 1
    after.disagreements = ["two\nlines of 5 %"]
    text, _, rest = changes(before, after).table("latex").partition("\\begin{table}")
    assert "% lines of 5 %" in text and rest and all(not line or line[0] == "%" for line in text.splitlines())
    after.rows[2] = Measurement(after.rows[2].combination, error="ValueError: two\nlines_ of it")
    assert "\n% lines_ of it" in after.to_latex()
