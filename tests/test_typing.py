# SPDX-License-Identifier: Apache-2.0
"""`mypy --strict` accepts a user's script, and knows what drivers, values and gradients are."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[1]
SCRIPT = '''
import numpy as np
from numpy.typing import NDArray

import codipy

Vector = NDArray[np.float64]


def energy(u: Vector, k: float = 2.0) -> float:
    new = np.empty_like(u)
    new[1:-1] = u[1:-1] + k * (u[2:] - u[:-2])
    return float(np.sum(new[1:-1] ** 2))


def both(u: Vector) -> tuple[float, dict[str, float]]:
    return energy(u), {"k": 2.0}


def field(u: Vector) -> Vector:
    return u * u


@codipy.grad
def decorated(q: float) -> float:
    return q * q


point: Vector = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
reveal_type(codipy.grad(energy)(point, k=3.0))  # ndarray
reveal_type(codipy.value_and_grad(energy)(point))  # tuple[float, ndarray]
reveal_type(codipy.value_and_grad(both, has_aux=True)(point))  # tuple[tuple[float, dict[str, float]], ndarray]
reveal_type(codipy.grad(both, has_aux=True)(point))  # tuple[ndarray, dict[str, float]]
reveal_type(codipy.grad(energy, (0, 1))(point, 3.0))  # tuple[Any, ...]
reveal_type(decorated(2.0))  # float
by_k: float = codipy.grad(energy, 1)(point, 3.0)
named: float = codipy.grad(energy, argnames="k")(point, k=2.0)
matrix: Vector = codipy.jacobian(field)(point)
out, pullback = codipy.vjp(field, point)
reveal_type(out)  # ndarray
reveal_type(pullback(np.ones(5)))  # tuple[Any, ...]
reveal_type(codipy.jvp(field, (point,), (np.ones(5),)))  # tuple[ndarray, ndarray]
print(codipy.grad(lambda q: q * q)(3.0), codipy.grad(lambda a, b: a * b, (0, 1))(1.0, 2.0))
print(codipy.value_and_grad(lambda a, b: a * b, 1)(1.0, 2.0), codipy.jacobian(lambda a: a * a)(point))
print(codipy.vjp(lambda a: a * a, point)[1](point), codipy.grad(energy)(point))

tape = codipy.Tape(strategy="jacobian")
with tape:
    x = tape.register_input(codipy.Real(3.0))
    a = tape.register_input(point)
    y = tape.register_output(x * x + 2.0)
y.gradient = 1.0
tape.evaluate()
adjoints = tape.new_adjoints(width=2)
adjoints[y] = np.ones(2)
tape.evaluate(adjoints=adjoints)
reveal_type(x.gradient)  # float
reveal_type(y.value)  # float
reveal_type(a.value)  # ndarray
reveal_type(a.gradient)  # ndarray
reveal_type(codipy.value(a))  # ndarray
reveal_type(codipy.value(x))  # float
reveal_type(codipy.value([1.0]))  # list[float]
reveal_type(tape.strategy)  # str
reveal_type(codipy.rebind(energy, modules=["scipy"])(point))  # float
reveal_type(codipy.check_derivatives(energy, point).passed)  # bool
reveal_type(codipy.compare(energy, point, strategies=["auto"]).agree)  # bool
reveal_type(codipy.__version__)  # str
print(tape.statistics().total.used, tape.position(), codipy.active_tape(), codipy.math.sin(2.0))
codipy.set_num_threads(2)
codipy.clear_tapes()
with codipy.passive():
    print(codipy.numpy.zeros(3))
'''


def test_a_users_script_under_strict(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed, it comes with the extra [dev]")
    script, settings = tmp_path / "script.py", tmp_path / "mypy.ini"
    script.write_text(SCRIPT, encoding="utf-8")
    # As for an installed package: what is wrong in codipy itself is found by test_stubs.py.
    settings.write_text(f"[mypy]\nmypy_path = {ROOT}\n[mypy-codipy.*]\nfollow_imports = silent\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(settings), "--cache-dir=build/strict"]
    result = subprocess.run([*command, str(script)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    shown = re.findall(r"script\.py:(\d+): note: Revealed type is \"(.*)\"", result.stdout)
    expected = {n: line.partition("# ")[2] for n, line in enumerate(SCRIPT.split("\n"), 1) if "reveal_type" in line}
    found = {int(n): re.sub(r"numpy\.ndarray\[.*?numpy\.float64\]\]|builtins\.", _short, text) for n, text in shown}
    assert found == expected


def _short(match):
    return "ndarray" if match.group().startswith("numpy") else ""
