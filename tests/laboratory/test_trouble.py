# SPDX-License-Identifier: Apache-2.0
"""codipy.debug finds what is wrong where it is, under every strategy, and changes nothing."""

import json
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import codipy
from codipy.active.array import call, identifiers
from codipy.cli import main
from codipy.laboratory.trouble import Troubles
from codipy.laboratory.trouble.recorded import Recorded
from codipy.laboratory.trouble.watch import Watcher
from codipy.tape.provenance.watching import watched_by
from codipy.tools.runs.problem import Weighted
from tests.fuzz.generator import constants, write
from tests.laboratory import troubled
from tests.strategies import VARIANTS, each_pair

SOURCE = Path(troubled.__file__).read_text(encoding="utf-8").splitlines()
QUIET = pytest.mark.filterwarnings("ignore::RuntimeWarning")
WRONG = {
    "value": ["log_of_negative", "scalar_overflow", "after_a_call", "inside_of_a_generator"],
    "adjoint": ["root_of_zero", "power_of_array"],
    "plain": ["plain_factor", "plain_array", "plain_twice_removed"],
    "overwritten": ["written"],
}


def marked(f, kind):
    """The line of a function of `troubled` that ends in a mark."""
    start = f.__code__.co_firstlineno
    return next(k for k in range(start, len(SOURCE)) if SOURCE[k - 1].endswith(f"# {kind}"))


def looked_at(f, variant):
    """What `with codipy.debug()` says of a driver's run under a strategy."""
    with codipy.debug(show=False) as report:
        codipy.grad(f, strategy=variant[0], granularity=variant[1])(f.x0)
    return report


def of_kind(report, kind):
    return [finding for finding in report.findings if finding.kind == kind]


@QUIET
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in WRONG.items() for name in names])
def test_the_line_of_what_is_wrong(kind, name):
    f = getattr(troubled, name)
    found = of_kind(codipy.debug(f, f.x0), kind)
    assert len(found) == 1
    assert found[0].line.startswith(f"troubled.py:{marked(f, kind)}: `")


@QUIET
def test_the_line_of_a_method_and_a_lambda():
    with codipy.debug(show=False) as report:
        codipy.grad(troubled.model_run)(2.0)
    line = next(k for k, text in enumerate(SOURCE, 1) if "lambda y: y * " in text)
    assert report.findings[0].line.startswith(f"troubled.py:{line}: `")
    assert report.findings[0].statement == "#1*inf" and "inf" in report.findings[0].text


@QUIET
@each_pair(pairs=VARIANTS)
def test_the_first_value_that_is_not_finite_with_its_operands(variant):
    f = troubled.log_of_negative
    (found,) = of_kind(looked_at(f, variant), "value")
    assert found.line.startswith(f"troubled.py:{marked(f, 'value')}: `")
    assert found.text.startswith("nan at [2], 1 of 3 elements")
    assert found.statement.startswith("log(")
    (operand,) = found.operands.values()
    plain = np.exp(f.x0[2]) * (f.x0[2] - 2.0)
    assert operand.startswith(f"{plain:.6g} at [2]") and "troubled.py" in operand


@QUIET
@each_pair(pairs=VARIANTS)
def test_the_first_adjoint_that_is_not_finite(variant):
    report = looked_at(troubled.root_of_zero, variant)
    assert not of_kind(report, "value")
    (found,) = of_kind(report, "adjoint")
    assert found.line.startswith(f"troubled.py:{marked(troubled.root_of_zero, 'adjoint')}")
    assert found.statement.startswith("sqrt(") and "gets inf where that of the result is 1" in found.text
    assert [said.partition(" ")[0] for said in found.operands.values()] == ["0"]


@QUIET
def test_of_arrays_the_element_is_named():
    (found,) = of_kind(codipy.debug(troubled.power_of_array, troubled.power_of_array.x0), "adjoint")
    assert "0 at [1]" in next(iter(found.operands.values()))


@QUIET
def test_a_number_that_overflows_on_the_way():
    (found,) = of_kind(codipy.debug(troubled.scalar_overflow, 1e50), "value")
    assert found.text == "inf" and "1e+200" in next(iter(found.operands.values()))


def dependent(f, x):
    """Which elements of the argument move the result of a plain run."""
    moved = []
    for k in range(x.size):
        y = x.copy()
        y[k] += 0.25
        moved.append(f(y) != f(x))
    return moved


@each_pair(pairs=VARIANTS)
def test_inputs_that_no_output_depends_on(variant):
    f = troubled.some_unread
    (found,) = of_kind(looked_at(f, variant), "input")
    unread = [k for k, moves in enumerate(dependent(f, f.x0)) if not moves]
    assert found.text == f"2 of 4 elements, {', '.join(f'[{k}]' for k in unread)}, of input 0: the derivative is 0"


def test_numbers_in_lists_are_named_as_arguments():
    report = codipy.debug(lambda p, q: p[0] * q["b"], [1.0, 2.0], {"a": 3.0, "b": 4.0})
    assert [finding.text for finding in report.findings] == [
        "argument 0[1]: the derivative is 0", "argument 1['a']: the derivative is 0"]


def test_outputs_that_depend_on_nothing():
    (found,) = codipy.debug(troubled.constant_output, 1.0).findings
    assert (found.kind, found.text) == ("output", "result[1] is 7, whatever the inputs are")
    with codipy.debug(show=False) as report:
        tape = codipy.Tape()
        with tape:
            x = tape.register_input(2.0)
            tape.register_output(3.0)
            tape.register_output(x * x)
    assert [finding.text for finding in report.findings] == ["output 0 is 3, whatever the inputs are"]
    assert "tape.register_output(3.0)" in report.findings[0].line


@pytest.mark.parametrize("name", ["plain_but_harmless", "shifted_exponentials", "healthy"])
def test_nothing_is_found_where_nothing_is_wrong(name, capsys):
    f = getattr(troubled, name)
    report = codipy.debug(f, f.x0)
    assert report.ok and not report.findings and not report.notes
    assert str(report).endswith("nothing found")


@each_pair(pairs=VARIANTS)
def test_healthy_code_is_healthy_under_every_strategy_and_its_gradient_the_same(variant):
    f = troubled.healthy
    expected = codipy.grad(f, strategy=variant[0], granularity=variant[1])(f.x0)
    with codipy.debug(show=False) as report:
        found = codipy.grad(f, strategy=variant[0], granularity=variant[1])(f.x0)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert not report.findings and not report.notes and (report.recordings, report.sweeps) == (1, 1)
    tape = codipy.Tape(*variant)
    assert not tape.watched
    assert codipy.grad(f, strategy=variant[0], granularity=variant[1])(f.x0).tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["plain_factor", "plain_array"])
def test_plain_values_that_reach_the_result_inside_of_a_block(name):
    f = getattr(troubled, name)
    with codipy.debug(show=False) as report:
        codipy.grad(f)(f.x0)
    (found,) = of_kind(report, "plain")
    assert found.line.startswith(f"troubled.py:{marked(f, 'plain')}: `")
    assert "1.5" in found.statement


def test_a_function_that_draws_numbers_cannot_be_followed():
    random = np.random.default_rng(1)

    def noisy(x):
        return x * codipy.value(x) * random.random()

    report = codipy.debug(noisy, 2.0)
    assert not report.findings
    assert "the function returned something else when it ran plainly" in report.notes[0]
    assert "something else at each call" in report.notes[1]


@pytest.mark.parametrize("result", [lambda x: x, lambda x: x * np.inf, lambda x: x * np.nan, lambda x: (x + 1) - x - 1])
@QUIET
def test_a_run_that_is_not_as_the_plain_one_is_said(result):
    drawn = iter([1.0, 2.0])
    report = codipy.debug(lambda x: (result(x), x * next(drawn)), 0.1)
    assert ["something else when it ran plainly" in note for note in report.notes] == [True]
    assert codipy.debug(lambda x: (result(x), x), 0.1).notes == []


def test_adjoints_that_cancel_are_a_hint():
    report = codipy.debug(troubled.cancelling, 2.0)
    (found,) = report.findings
    assert report.ok and found.is_hint and found.kind == "cancel"
    assert "argument 0" in found.text and "about 10 of 16 digits" in found.text


def test_a_root_that_has_converged_is_no_hint():
    """The adjoints of Newton's last steps cancel, as they should, and the derivative is right to its last digits."""
    assert codipy.debug(troubled.square_root, 2.0).findings == []
    assert codipy.grad(troubled.square_root)(2.0) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-15)


def test_digits_that_are_lost_on_the_way_to_an_input_are_a_hint():
    report = codipy.debug(troubled.cancelling_inside, 2.0)
    assert {finding.kind for finding in report.findings} == {"cancel"}
    assert any("`y = x * x`" in finding.line for finding in report.findings)


def test_a_block_inside_of_a_block():
    def recorded(x):
        return codipy.grad(lambda x: np.log(x - x) * x)(x)

    with codipy.debug(show=False) as outer:
        with codipy.debug(show=False) as inner, np.errstate(all="ignore"):
            recorded(1.0)
        codipy.debug(troubled.cancelling, 2.0)
        with np.errstate(all="ignore"):
            recorded(3.0)
    assert (outer.recordings, inner.recordings) == (1, 1)
    assert {finding.kind for finding in inner.findings} == {finding.kind for finding in outer.findings}
    assert outer.notes == ["what ran inside of another codipy.debug, which reports it itself"]
    assert inner.notes == []


@QUIET
@each_pair(pairs=VARIANTS)
def test_code_with_a_tape(variant):
    with codipy.debug(show=False) as report:
        tape = codipy.Tape(*variant, chunk_size=4)
        for start in (3.0, -1.0):
            tape.reset()
            with tape:
                x, u = tape.register_input(start), tape.register_input(np.ones(3))
                u[1] = 0.0
                y = np.log(x) * u.sum()
                tape.register_output(y)
            y.gradient = 1.0
            tape.evaluate()
    assert report.recordings == report.sweeps == 2
    (written,) = of_kind(report, "overwritten")
    assert written.recordings == 2 and "`u[1] = 0.0`" in written.line and written.is_hint
    (value,) = of_kind(report, "value")
    assert value.recordings == 1 and "`y = np.log(x) * u.sum()`" in value.line and value.statement == "log(#1)"
    (unread,) = of_kind(report, "input")
    assert "1 of 3 elements, [1], of input 1" in unread.text


@QUIET
def test_nested_derivatives_are_looked_at_too():
    with codipy.debug(show=False) as report:
        codipy.grad(lambda x: codipy.grad(lambda y: np.sqrt(y) * x)(x - x))(4.0)
    assert report.recordings == 2
    assert {"adjoint"} <= {finding.kind for finding in report.findings}


def test_what_is_not_looked_at_is_said():
    old = codipy.Tape()
    with codipy.debug(show=False) as report:
        with old:
            old.register_output(old.register_input(1.0) * 2.0)
        forward = codipy.Tape("forward")
        with forward:
            forward.register_input(1.0) * 2.0
        new = codipy.Tape()
        with new:
            x = new.register_input(1.0)
            here = new.position()
            y = new.register_output(x * 2.0)
        y.gradient = 1.0
        new.evaluate(end=here)
    assert len(report.notes) == 3
    for said in ("made before", "strategy 'forward'", "between two positions"):
        assert any(said in note for note in report.notes)
        assert "Not looked at: " in str(report)


def test_errors_of_the_code_pass_and_nobody_looks_on_any_more(capsys):
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError), codipy.debug():
        tape = codipy.Tape()
        with tape:
            x = tape.register_input(0.0)
            tape.register_output(x * float("nan"))
            1 / 0
    assert sys.gettrace() is before and watched_by(None) is None
    assert "a value that is not finite" in capsys.readouterr().err
    assert not codipy.Tape().watched


def test_tapes_that_are_loaded_or_optimized_inside_are_what_they_were(tmp_path):
    tape = codipy.Tape("jacobian-reuse")
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x + np.sin(x))
    tape.save(tmp_path / "a.tape")
    with codipy.debug(show=False) as report:
        loaded = codipy.load_tape(tmp_path / "a.tape")
        new = codipy.Tape("jacobian-reuse")
        with new:
            u = new.register_input(3.0)
            v = new.register_output(u * u + np.sin(u))
        assert (new.strategy, new.granularity, new.watched) == ("primal", "operation", True)
        new.check()
        small = new.optimize(inputs=[u], outputs=[v])
        tape.optimize(inputs=[x], outputs=[y])
        for kept in (loaded, small.tape):
            kept.check()
        loaded.outputs[0].gradient = 1.0
        loaded.evaluate()
    assert loaded.strategy == "jacobian-reuse" and not loaded.watched
    assert loaded.inputs[0].gradient == pytest.approx(6.0 + np.cos(3.0))
    assert report.recordings == 1


def test_other_threads_are_left_alone():
    found = []
    with codipy.debug(show=False) as report:
        thread = threading.Thread(target=lambda: found.append(codipy.grad(troubled.healthy)(troubled.healthy.x0)))
        thread.start()
        thread.join()
    assert found[0].tolist() == pytest.approx(codipy.grad(troubled.healthy)(troubled.healthy.x0).tolist())
    assert report.recordings == 0 and report.notes == ["a recording on another thread"]


@QUIET
@pytest.mark.parametrize("seed", range(40))
def test_values_and_adjoints_statement_by_statement_are_those_of_the_tape(seed):
    program = write(f"trouble:{seed}")
    before = watched_by(Watcher(Troubles()))
    try:
        with np.errstate(all="ignore"):
            try:
                problem = Weighted(program.compiled(**constants(program.source)), program.inputs)
                tape = codipy.Tape()
                run = problem.record(tape)
            except Exception:      # what codipy refuses
                pytest.skip("refused")
            recorded = Recorded(tape)
            adjoints = np.zeros(tape.identifiers)
            for y, weights in zip(run.outputs, problem.weights):
                if y is not None:
                    with tape:
                        ids = np.asarray(identifiers(y))
                    np.testing.assert_allclose(recorded.values[ids][ids > 0], np.asarray(y.value)[ids > 0], rtol=1e-13)
                    np.add.at(adjoints, ids, weights)
            adjoints[0] = 0.0
            for _ in recorded.pulled(adjoints):
                pass
            expected = run.reverse(tape.new_adjoints(), problem.weights)
    finally:
        watched_by(before)
    inputs = [entry.results[0].identifiers() for entry in recorded.entries if entry.kind == "input"]
    assert recorded.known[1:].all() and len(inputs) == len(expected)
    for ids, gradient in zip(inputs, expected):
        np.testing.assert_allclose(adjoints[ids].ravel(), np.ravel(gradient), rtol=1e-10, atol=1e-12)


def test_tapes_that_were_watched_never_serve_again():
    codipy.clear_tapes()
    with codipy.debug(show=False):
        _, pullback = codipy.vjp(lambda x: x * x, 3.0)
    assert pullback(1.0) == (6.0,)
    del pullback
    assert codipy.grad(lambda x: x * x)(3.0) == 6.0
    with codipy.debug(show=False) as outer:
        with codipy.debug(show=False) as inner:
            codipy.grad(lambda x: x * x)(3.0)
        codipy.grad(lambda x: x * x)(3.0)
    assert (outer.recordings, inner.recordings) == (1, 1)


def test_text_dictionary_json_and_html_say_the_same():
    report = codipy.debug(troubled.written, troubled.written.x0)
    stored = json.loads(report.to_json())
    assert stored["ok"] is report.ok is True
    (finding,) = stored["findings"]
    assert finding["kind"] == "overwritten" and finding["hint"]
    assert " ".join(finding["line"].split()) in " ".join(str(report).split())
    assert "<td" in report._repr_html_() and "p[0] = 5.0" in report._repr_html_()
    for width in (40, 60):
        assert all(len(line) <= width for line in report.text(width=width).splitlines())


@QUIET
@pytest.mark.parametrize(("name", "status"), [("log_of_negative", 1), ("healthy", 0), ("written", 0), ("absent", 2)])
def test_the_command_says_by_its_status_whether_something_is_wrong(name, status, capsys, tmp_path):
    path = tmp_path / "found.json"
    assert main(["debug", f"{troubled.__file__}:{name}", "--json", str(path)]) == status
    out = capsys.readouterr().out
    if status < 2:
        assert out.startswith(f"{name} at {name}.x0 of troubled.py\n1 recording and 1 reverse sweep")
        assert json.loads(path.read_text())["ok"] is (status == 0)
    else:
        assert not out and not path.exists()


def test_a_point_on_the_command_line(capsys):
    assert main(["debug", f"{troubled.__file__}:cancelling", "--x0", "3.0"]) == 0
    assert "hint: an adjoint in which terms cancel" in capsys.readouterr().out


@QUIET
def test_what_stands_before_an_error_of_the_function_is_found():
    def demanding(a):
        y = np.log(a * 0.0)
        if not np.isfinite(y).all():
            raise ValueError("not finite")
        return y.sum()

    for x in (1.0, np.ones(3)):
        report = codipy.debug(demanding, x)
        assert [finding.kind for finding in report.findings] == ["value"]
        assert "np.log(a * 0.0)" in report.findings[0].line
        assert report.notes == ["what came after: the run ended in ValueError: not finite"]
    with pytest.raises(ZeroDivisionError, match="float division by zero"):
        codipy.debug(lambda a: 1.0 / (a - a), 1.0)
    with pytest.raises(TypeError, match="NoneType as result"):
        codipy.debug(lambda a: None, 1.0)


def test_outputs_that_are_constants_have_the_lines_that_registered_them():
    with codipy.debug(show=False) as report:
        tape = codipy.Tape()
        with tape:
            tape.register_input(2.0)
            tape.register_output(3.0)
            tape.register_output(np.zeros(2) * tape.register_input(np.ones(0)).sum())
    lines = [finding.line for finding in of_kind(report, "output")]
    assert len(lines) >= 2
    assert all(line.startswith("test_trouble.py:") and "tape.register_output(" in line for line in lines)


def test_what_measures_strategies_measures_them_in_a_block_too():
    def f(x):
        return np.sum(np.sin(x) * x)

    def measured():
        x = np.linspace(0.1, 1.0, 9)
        return ([(row.strategy, row.streams) for row in codipy.compare(f, x, repeat=1).rows],
                [(row.strategy, row.used, row.streams) for row in codipy.predict(f, x).rows],
                codipy.timeline(f, x, strategy="jacobian").samples[-1].statements)

    expected = measured()
    with codipy.debug(show=False) as report:
        assert measured() == expected
    assert any("made before, or by what measures" in note for note in report.notes)


def test_results_of_which_the_shape_alone_is_kept_are_computed_again():
    def pull(g, out, args, kwargs, argnums):
        return [(0.0 if g[0] is None else 3.0 * g[0]) + np.full(2, 0.0 if g[1] is None else g[1])]

    both = codipy.Primitive("both", lambda x: (3.0 * x, x.sum()), pull, keep_args=False, keep_out=False)

    def f(x):
        y, z = call(both, (x,))
        return np.sum(np.sqrt(y - 2.0)) + np.sum(1.0 / y) * z

    report = codipy.debug(f, np.array([1.0, 2.0]))
    assert not report.findings, str(report)
    with np.errstate(divide="ignore"):
        report = codipy.debug(lambda x: np.sum(1.0 / (call(both, (x,))[0] - 3.0)), np.array([1.0, 2.0]))
    assert [(finding.kind, finding.text) for finding in of_kind(report, "value")] == [
        ("value", "inf at [0], 1 of 2 elements")]
    tape = codipy.Tape("jacobian")
    with tape:
        call(both, (tape.register_input(np.array([1.0, 2.0])),))
    assert "both(#1..#2)  is (?, 3)" in tape.dump()


def of_an_element(x):
    v = x[0].value  # lost
    return v * x[1]


def of_an_array(x):
    v = x.value  # lost
    return (v * x).sum()


@pytest.mark.parametrize("f", [of_an_element, of_an_array])
def test_functions_that_cannot_run_plainly_are_looked_at(f):
    """NumPy's arrays and numbers have no ``.value``: the line is that which the block names."""
    x = np.array([1.5, 2.0, 3.0])
    alone = codipy.debug(f, x, rebind=False)
    with codipy.debug(show=False) as block:
        codipy.grad(f, rebind=False)(x)
    lost, known = ([finding for finding in report.findings if finding.kind == "plain"] for report in (alone, block))
    assert [(finding.text, finding.line) for finding in lost] == [(finding.text, finding.line) for finding in known]
    assert len(lost) == 1 and "its derivative is lost" in lost[0].text and "# lost" in str(lost[0].line)
    assert not alone.ok
    assert any("AttributeError" in note for note in alone.notes)
