# SPDX-License-Identifier: Apache-2.0
"""Examples and benchmarks run: each example checks itself against a known answer, and so does the fit to real data."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import codipy
from tests.strategies import STRATEGIES

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def load(name):
    """An example as a module; nothing runs but its definitions."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [
    "option_greeks", "newton_solver", "adaptive_quadrature", "what_fits", "burgers", "libor"])  # fmt: skip
def test_example_agrees_with_the_known_answer(name, capsys):
    load(name).main()
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last.startswith("check: ")
    assert last.endswith(": ok")


@pytest.mark.parametrize("name, scale", [("newton_solver", 0.0), ("adaptive_quadrature", 0.0)])
def test_a_wrong_derivative_would_show(name, scale, capsys, monkeypatch):
    module = load(name)
    known = "exact_derivatives" if name == "newton_solver" else "formula"
    right = getattr(module, known)

    def wrong(*arguments):
        answer = right(*arguments)
        return [1.01 * value for value in answer] if isinstance(answer, list) else 1.01 * answer

    monkeypatch.setattr(module, known, wrong)
    module.main()
    assert capsys.readouterr().out.strip().endswith(": WRONG")


def test_lynx_hare_gradient_for_every_strategy():
    example = load("lynx_hare")
    step, reference = 1e-6, []
    for i in range(len(example.x0)):
        up, down = ([v + sign * step * (j == i) for j, v in enumerate(example.x0)] for sign in (1.0, -1.0))
        reference.append((example.misfit(up) - example.misfit(down)) / (2.0 * step))
    for strategy in STRATEGIES:
        value, gradient = codipy.value_and_grad(example.misfit, strategy=strategy)(example.x0)
        assert value == example.misfit(example.x0)
        assert gradient == pytest.approx(reference, rel=1e-6, abs=1e-6)


def test_lynx_hare_fit_is_that_of_another_integrator_and_optimiser():
    integrate, optimize = (pytest.importorskip(f"scipy.{name}") for name in ("integrate", "optimize"))
    example = load("lynx_hare")

    def residuals(x):
        *rates, hare, lynx = map(example.math.exp, x)
        found = integrate.solve_ivp(lambda t, y: example.rates(*y, *rates), (0, 20), (hare, lynx), rtol=1e-8,
                                    t_eval=range(21)).y.ravel()
        return [example.math.log(a / b) for a, b in zip(example.HARES + example.LYNXES, found)]

    result, reference = example.fit(), optimize.least_squares(residuals, example.x0)
    assert max(map(abs, result.jac)) < 1e-4
    assert result.fun == pytest.approx(reference.cost, rel=1e-5)
    assert result.x == pytest.approx(reference.x, rel=1e-3)


def test_lynx_hare_runs_as_a_script(tmp_path):
    pytest.importorskip("scipy")
    pytest.importorskip("matplotlib")
    figure = tmp_path / "fit.png"
    done = subprocess.run([sys.executable, str(EXAMPLES / "lynx_hare.py"), str(figure)], capture_output=True,
                          text=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    for expected in ("misfit", "year    hare  fitted", "plain runs", "Total memory", "wrote fit.png"):
        assert expected in done.stdout
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_the_counts_are_all_there_and_name_their_source():
    example = load("lynx_hare")
    assert example.YEARS == list(range(1900, 1921))
    assert min(example.HARES + example.LYNXES) > 0.0
    assert "Hewitt 1921" in (EXAMPLES / "data" / "lynx_hare.csv").read_text(encoding="utf-8").splitlines()[0]


def run_benchmark(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "benchmarks" / "run.py"), *arguments], capture_output=True,
                          text=True, check=False)


def test_a_statement_takes_the_bytes_of_the_design():
    done = run_benchmark("bytes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0.00 B  target <= 0 B" in done.stdout


def test_an_unknown_question_lists_the_known_ones():
    done = run_benchmark("speed")
    assert done.returncode == 2
    assert "'speed'" in done.stderr and "bandwidth" in done.stderr
