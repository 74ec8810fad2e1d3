# SPDX-License-Identifier: Apache-2.0
"""Random programs of complex arrays, views and writes: NumPy's bits, differences, and each strategy as the others."""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES, new_tape

STATEMENTS = [
    "{a} = {b} * {c}",
    "{a} = {b} + {c} * 0.5",
    "{a} = {b} / (2.0 + {c} * {c}.conj())",
    "{a} = np.exp(0.3j * {b})",
    "{a} = {a} - 1j * {b}",
    "{a} = np.sqrt({b} + 3.0)",
    "{a} = {b}[::-1].copy()",
    "{a} = {b}[::-1]",
    "{a}[{i}] = {b}[{j}] * {c}[{i}]",
    "{a}[{i}:] *= {b}[{j}]",
    "{a}[:] = {b}",
    "{a} += x",
    "{a} *= 0.7 - 0.2j",
    "{a}.real[{i}:] = x[{i}:]",
    "{a}.imag *= 0.5",
    "{a} = np.fft.fft({b}) * 0.4",
    "{a} = np.where(x > 0.4, {b}, {c})",
    "{a} = np.concatenate([{b}[{i}:], {c}[:{i}]])",
    "{a} = np.roll({b}, {j})",
    "x = {a}.real * 0.6 + 0.1",
    "x = np.abs({a}) * 0.5",
    "{a} = m @ {b} * 0.4",
    "m[{i}] = {b} * 1",
    "m = np.outer({a}, {b}) * 0.3",
    "{a} = m[:, {i}]",
    "{a} = m.T[{j}] * x",
    "{a} = 1j * x + {b}",
    "{a} = np.zeros_like({b}); {a}[{i}] = {c}[{j}]; {a} = {a} + {b}",
    "for k in range(5): {a}[k] = {b}[k] * {c}[k - 1] + 0.1",
    "{a} = np.cumsum({b}) * 0.3",
    "{a}[[0, 3]] = {b}[[{i}, {j}]]",
    "{a} = np.array([{b}[{i}], 1j, x[{j}], {c}[0], 0.5])",
    "{a} = np.stack([{b}, {c}]).mean(0)",
    "y = {a}[1:4]; y *= 0.9; {b}[:3] = y",
    "{a} = np.vdot({b}, {c}) * {a} * 0.1",
    "{a} = {b} ** 2 * 0.5",
]


def program(seed, length=14):
    """The text of one program of a vector of 15 numbers."""
    rng = np.random.default_rng(seed)
    lines = ["def f(p):", "    x = p[:5] * 1.0", "    u = p[5:10] + 1j * p[10:]", "    v = u * (0.3 + 0.4j) + x",
             "    w = np.exp(1j * x)", "    m = np.outer(u, w) * 0.5"]  # fmt: skip
    for _ in range(length):
        a, b, c = rng.choice(["u", "v", "w"], 3)
        text = rng.choice(STATEMENTS).format(a=a, b=b, c=c, i=rng.integers(5), j=rng.integers(5))
        lines += [f"    {line.strip()}" for line in text.split("; ")]
    lines.append("    return np.sum(np.abs(u) ** 2) + np.sum((v * w).real) + np.sum(np.abs(m)) + np.sum(x)")
    return "\n".join(lines)


def function(text):
    names = {"np": np}
    exec(compile(text, "<program>", "exec"), names)
    return names["f"]


def gradient(f, p, strategy, reuse=True):
    tape = new_tape((strategy, "operation" if strategy == "simple" else "statement"), reuse=reuse)
    with tape:
        x = tape.register_input(p.copy())
        y = tape.register_output(codipy.rebind(f)(x))
    y.gradient = 1.0
    tape.evaluate()
    return y.value, x.gradient


@pytest.mark.parametrize("first", range(0, 80, 10))
def test_programs(first):
    p = np.random.default_rng(5).uniform(0.2, 0.8, 15)
    tangent = np.sin(np.arange(15.0))
    for seed in range(first, first + 10):
        text = program(seed)
        f = function(text)
        value = f(p)
        if not np.isfinite(value) or abs(value) > 1e4:
            continue
        _, expected = gradient(f, p, "primal", reuse=False)
        slope = (f(p + 1e-6 * tangent) - f(p - 1e-6 * tangent)) / 2e-6
        assert expected @ tangent == pytest.approx(slope, rel=1e-5, abs=1e-5 * max(1.0, abs(value))), text
        for strategy in STRATEGIES:
            found, slopes = gradient(f, p, strategy)
            assert found == value, text
            assert slopes == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max()), (strategy, text)
        assert codipy.jvp(f, (p,), (tangent,))[1] == pytest.approx(expected @ tangent, rel=1e-9, abs=1e-9), text
