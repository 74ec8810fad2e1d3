# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint of each iteration would take: loops of which the state is known, under every strategy."""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

each_strategy = pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "forward"])


def lorenz(x):
    a, b, c, s = x
    for _ in range(30):
        u, v, w = s * (b - a), a * (28.0 - c) - b, a * b - 2.5 * c
        a, b, c = a + 0.01 * u, b + 0.01 * v, c + 0.01 * w
    return a + b + c


def trajectory(x):
    """What is used when the loop is over is no state of it."""
    s, path = x[0], []
    for _ in range(20):
        s = s * x[1] + 0.1
        path.append(s * s * s)
    return sum(path)


def two_back(x):
    a, b = x[0], x[1]
    while b < 50.0:
        a, b = b, a * 0.3 + b + 1.0
    return b


def some_dead(x):
    """What is made in each iteration and read by nobody is no state."""
    a, unread = x[0], []
    for k in range(12):
        a = a * x[1] + 0.5
        unread.append(a * float(k))
    return a


def heat(u):
    for _ in range(15):
        u = u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
    return (u * u).sum()


def in_place(u):
    for _ in range(10):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] * 0.9 + 0.05 * (u[:-2, 1:-1] + u[2:, 1:-1])
    return (u * u).sum()


def mixed(x, u):
    a = x[0]
    for _ in range(9):
        a = a * 0.9 + u[0]
        u = np.sin(u) * a
    return a + u.sum()


START = np.linspace(0.1, 0.9, 40)
FIELD = np.linspace(0.1, 0.9, 48).reshape(6, 8)
# function, arguments, numbers that an iteration begins with
KNOWN = {
    "three numbers": (lorenz, ([1.0, 2.0, 3.0, 10.0],), 3),
    "a list that is summed later": (trajectory, ([0.3, 0.5],), 1),
    "two numbers": (two_back, ([0.3, 0.5],), 2),
    "results nobody reads": (some_dead, ([0.3, 0.5],), 1),
    "a row": (heat, (START,), 40),
    "a number and an array": (mixed, ([0.3], START), 41),
}


@each_strategy
@pytest.mark.parametrize("name", KNOWN)
def test_the_state_of_a_loop(name, strategy):
    function, arguments, numbers = KNOWN[name]
    (loop,) = codipy.profile(function, *arguments, strategy=strategy).loops
    assert (loop.state, loop.unknown) == (8 * numbers, "")
    assert loop.checkpointed == loop.each + loop.iterations * loop.state


@each_strategy
def test_an_array_that_is_written_in_place(strategy):
    """Of the border, which stays, more or less is handed on, as the strategy writes."""
    (loop,) = codipy.profile(in_place, FIELD, strategy=strategy).loops
    assert 8 * 4 * 6 <= loop.state <= FIELD.nbytes


def nested(x):
    for _ in range(4):
        for _ in range(5):
            x = x * 0.9 + 0.1
    return x


def twice(x):
    return lorenz(x) + lorenz(x)


@pytest.mark.parametrize(("function", "x"), [(nested, 0.5), (twice, [1.0, 2.0, 3.0, 10.0])])
def test_what_cannot_be_known_is_not_guessed(function, x):
    for loop in codipy.profile(function, x, strategy="jacobian").loops:
        assert (loop.state, loop.checkpointed, loop.unknown) == (None, None, "the loop runs more than once")


def test_blocks():
    with codipy.profile() as plain:
        codipy.grad(lorenz)(KNOWN["three numbers"][1][0])
    assert plain.loops[0].state is None
    assert "calls=True" in str(plain)
    with codipy.profile(calls=True) as once:
        codipy.grad(lorenz)(KNOWN["three numbers"][1][0])
    assert once.loops[0].state == 24
    with codipy.profile(calls=True) as several:
        for _ in range(2):
            codipy.grad(lorenz)(KNOWN["three numbers"][1][0])
    assert several.loops[0].unknown == "there are several recordings"


def test_the_advice_names_bytes_and_runs():
    found = codipy.profile(heat, START, strategy="primal")
    loop = found.loops[0]
    text = " ".join(str(found).split())
    assert f"Checkpoint heat, the loop in line {loop.line}:" in text
    assert f"for {loop.runs:.1f} runs: one iteration of" in text
    assert "15 checkpoints of 320 B" in text
    assert found.to_dict()["loops"][0]["checkpointed"]["bytes"] == loop.checkpointed
