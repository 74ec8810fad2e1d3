# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint of each iteration would take: loops of which the state is known, under every strategy."""

import math

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


def in_time(u, steps=20):
    """Nothing but a loop in a loop."""
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.2 * (u[i + 1] - 2.0 * u[i] + u[i - 1])
    return sum(x * x for x in u)


def anew(u, steps=20):
    k = 0
    while k < steps:
        u = [u[i] * 0.5 + u[i - 1] * 0.3 * u[i] for i in range(len(u))]
        k += 1
    return sum(u)


def step(u):
    for i in range(1, len(u)):
        u[i] = u[i] * 0.5 + 0.2 * u[i - 1] * u[i]


def by_steps(u, steps=20):
    for _ in range(steps):
        step(u)
    return sum(u[1:])


def triangle(u):
    """Each iteration has one less."""
    for k in range(len(u)):
        for i in range(k + 1, len(u)):
            u[i] = u[i] * u[i] * 0.5 + 0.1 * u[i]
    return sum(u)


def spread(u):
    for _ in range(20): u = [u[k] * 0.5 + u[k - 1] * 0.3 * u[k] for k in range(len(u))]  # noqa: E701
    return sum(u)


def followed(x):
    def numbers():
        a, b = x[0], x[1]
        while True:
            a, b = b, a * 0.3 + b
            yield b

    return sum(b * b for _, b in zip(range(20), numbers()))


# function, arguments, line of the loop in it, iterations, numbers
OUTER = {
    "in place": (in_time, (list(START),), 2, 20, 38),
    "a new list": (anew, (list(START),), 2, 20, 40),
    "a function": (by_steps, (list(START),), 1, 20, 39),
    "fewer each time": (triangle, (list(START),), 2, 40, 38),
    "on one line": (spread, (list(START),), 1, 20, 40),
    "a generator that is left": (followed, ([0.3, 0.5],), 3, 20, 2),
}


@each_strategy
@pytest.mark.parametrize("name", OUTER)
def test_loops_that_only_have_loops_in_them(name, strategy):
    function, arguments, line, iterations, numbers = OUTER[name]
    found = codipy.profile(function, *arguments, strategy=strategy)
    loops = {loop.line - function.__code__.co_firstlineno: loop for loop in found.loops}
    assert (loops[line].iterations, loops[line].state) == (iterations, 8 * numbers)
    inner = [loop for loop in found.loops if loop is not loops[line] and loop.line > loops[line].line]
    assert all(loop.unknown == "the loop runs more than once" for loop in inner)
    assert f"loop in line {loops[line].line}:" in " ".join(str(found).split())


def history(x):
    """What was five iterations ago: a checkpoint has more numbers than an iteration puts on the tape."""
    known = [x[0] * (1.0 + 0.1 * k) for k in range(5)]
    for _ in range(30):
        known.append(known[-1] * 0.9 + x[1] * math.sin(known[-5]))
    return known[-1]


def kept(x):
    a, path = x[0], []
    for _ in range(30):
        a = a * 0.9 + math.sin(a * x[1])
        path.append(a)
    return sum(a * b for a, b in zip(path, path[1:]))


def independent(x):
    path = []
    for k in range(30):
        a = math.sin(x[0] * k)
        path.append(a * x[1])
    return sum(path)


@each_strategy
@pytest.mark.parametrize("granularity", ["statement", "operation"])
@pytest.mark.parametrize(("function", "numbers"), [(history, 5), (kept, 1), (independent, 0)])
def test_the_state_is_the_same_however_it_is_recorded(function, numbers, strategy, granularity):
    if (strategy, granularity) == ("simple", "statement"):
        return
    for _ in range(4):  # the interpreter knows the functions better each time
        found = codipy.profile(function, [0.3, 0.5], strategy=strategy, granularity=granularity)
        assert [loop.state for loop in found.loops] == [8 * numbers]


def test_a_checkpoint_that_makes_the_tape_larger_is_not_advised():
    found = codipy.profile(history, [0.3, 0.5], strategy="jacobian")
    (loop,) = found.loops
    assert loop.checkpointed > loop.sums.bytes
    text = " ".join(str(found).split())
    assert "Checkpoint history" not in text
    assert f"Checkpoints would not make history, the loop in line {loop.line} smaller:" in text


def twice(x):
    return lorenz(x) + lorenz(x)


def in_two_iterations(x):
    for _ in range(2):
        x = x * 0.9 + 0.1
    return x


@pytest.mark.parametrize(("function", "x", "why"), [(twice, [1.0, 2.0, 3.0, 10.0], "the loop runs more than once"),
                                                    (in_two_iterations, 0.5, "it takes three iterations to see")])
def test_what_cannot_be_known_is_not_guessed(function, x, why):
    (loop,) = codipy.profile(function, x, strategy="jacobian").loops
    assert (loop.state, loop.checkpointed, loop.unknown) == (None, None, why)


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


def written_before(x):
    u = x * 2.0
    w = np.zeros(len(x))
    for _ in range(20):
        w = w + u * np.sin(w)
    return np.sum(w)


def number_before(x):
    scale = np.sin(x[0]) * x[1]
    w = x[2:]
    for _ in range(20):
        w = w * scale + 0.1
    return np.sum(w)


@each_strategy
@pytest.mark.parametrize("granularity", ["statement", "operation"])
@pytest.mark.parametrize(("function", "numbers"), [(written_before, 40), (number_before, 38)])
def test_what_was_written_before_a_loop_is_no_state_of_it(function, numbers, strategy, granularity):
    if (strategy, granularity) == ("simple", "statement"):
        return
    with codipy.profile(calls=True) as found:
        tape = codipy.Tape(strategy, granularity)
        with tape:
            tape.register_output(codipy.rebind(function)(tape.register_input(START)))
    (loop,) = found.loops
    assert (loop.iterations, loop.state) == (20, 8 * numbers)
