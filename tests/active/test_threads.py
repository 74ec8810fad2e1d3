# SPDX-License-Identifier: Apache-2.0
"""NumPy programs on several threads: each strategy, forks, Python's own threads, and what the setting refuses."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import codipy
from codipy.programs import tiles
from tests.active.recording import each_strategy
from tests.programs.layouts import same_bits

ROOT = Path(__file__).parents[2]
SIZE = 10_000
RNG = np.random.default_rng(22)
X, Y = RNG.uniform(0.5, 1.5, SIZE), RNG.uniform(0.5, 1.5, SIZE)


@pytest.fixture(autouse=True)
def small_shares():
    """One operation on an element is enough for a thread; what was set before comes back."""
    share, count = tiles._share_from(1), codipy.get_num_threads()
    yield
    tiles._share_from(share)
    codipy.set_num_threads(count)


def elementwise(x, y):
    return np.sum(np.exp(-x * y) / (1 + np.log(x + y)))


def scalars(x, y):
    """Two numbers used by all elements, one of them an element of the array."""
    return np.sum((np.mean(y) * x + x[3] - np.tanh(y)) ** 2)


def in_place(x, y):
    u = x.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * y[1:-1]
        u *= np.sqrt(y)
    return np.sum(u * u)


def columns(x, y):
    a = (x * y).reshape(-1, 2)
    return np.sum(np.sin(a[:, 0]) * a[:, 1] + a[::-1, 0])


def broadcast(x, y):
    a = x.reshape(100, 100)
    return np.sum(np.exp(a * y[:100] - y[:100, None]) + a.T / np.max(y))


FUNCTIONS = [elementwise, scalars, in_place, columns, broadcast]
each_function = pytest.mark.parametrize("f", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])


def for_each_count(function):
    """The results with one thread; those with more must have the same bits."""
    codipy.set_num_threads(1)
    alone = function()
    for count in (2, 3, 7):
        codipy.set_num_threads(count)
        for a, b in zip(alone, function(), strict=True):
            assert same_bits(a, b), count
    return alone


def recorded(f, strategy, granularity):
    """The value, the gradients and the tangent of a recording."""
    tape = codipy.Tape(strategy=strategy, granularity=granularity)
    with tape:
        x, y = tape.register_input(X), tape.register_input(Y)
        z = tape.register_output(codipy.rebind(f)(x, y))
    z.gradient = 1.0
    tape.evaluate()
    found = [np.array(z.value), np.array(x.gradient), np.array(y.gradient)]
    tape.clear_adjoints()
    x.gradient, y.gradient = Y, X
    tape.evaluate_forward()
    return [*found, np.array(z.gradient)]


@each_function
@each_strategy
def test_recordings(f, variant):
    found = for_each_count(lambda: recorded(f, *variant))
    assert same_bits(found[0], np.array(f(X, Y)))


@each_function
def test_drivers(f):
    def all_of_them():
        value, gradients = codipy.value_and_grad(f, argnums=(0, 1))(X, Y)
        return [np.array(value), *gradients, np.array(codipy.jvp(f, (X, Y), (Y, X))[1])]

    for_each_count(all_of_them)


def test_several_directions():
    """An adjoint vector of width 3: the elements of an array do not lie side by side."""

    def work():
        tape = codipy.Tape()
        with tape:
            x = tape.register_input(X)
            y = tape.register_output(np.exp(x) * x)
        adjoints = tape.new_adjoints(width=3)
        adjoints[y] = np.stack([X, Y, np.ones(SIZE)], axis=-1)
        tape.evaluate(adjoints=adjoints)
        return [np.array(adjoints[x])]

    for_each_count(work)


def test_python_threads_record_while_tiles_have_threads():
    expected = for_each_count(lambda: recorded(elementwise, "auto", "statement"))
    codipy.set_num_threads(3)
    wrong = []

    def work():
        for _ in range(10):
            found = recorded(elementwise, "auto", "statement")
            wrong.extend(k for k, (a, b) in enumerate(zip(found, expected, strict=True)) if not same_bits(a, b))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not wrong


def python(program, **environment):
    """Lines that a program prints in an interpreter of its own; an endless wait is a failure."""
    head = "import numpy as np, os, threading, codipy\nfrom codipy.programs import tiles\ntiles._share_from(1)\n"
    found = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", head + textwrap.dedent(program)],
                           cwd=ROOT, timeout=60, capture_output=True, text=True, env={**os.environ, **environment})
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_sweeps():
    python("""
        codipy.set_num_threads(3)
        x = np.linspace(0.1, 1.0, 20000)
        gradient = codipy.grad(lambda x: np.sum(np.exp(x) * x))
        expected = gradient(x)
        ends = threading.Event()

        def work():
            while not ends.is_set():
                assert (gradient(x) == expected).all()

        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if (gradient(x) == expected).all() else 1)
            assert os.waitpid(child, 0)[1] == 0
        ends.set()
        thread.join()
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_rebuilds():
    """Its locks are never given back in the child, and what it had in hand is half done."""
    python("""
        from codipy.tools.rebinding.locks import _OWNERS
        f = lambda x: x * (1.0 if isinstance(x, float) else 7.0)
        gradient = codipy.grad(f)
        gradient(2.0)
        locks = [getattr(owner, attribute) for owner, (attribute, _) in _OWNERS.items()]
        assert len(locks) >= 3
        held, ends = threading.Event(), threading.Event()

        def work():
            for lock in locks:
                lock.acquire()
            held.set()
            ends.wait()
            for lock in locks:
                lock.release()

        thread = threading.Thread(target=work)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            found = gradient(2.0), codipy.grad(lambda x: f(x) * x)(2.0)
            os._exit(0 if found == (1.0, 4.0) else 1)
        assert os.waitpid(child, 0)[1] == 0
        ends.set()
        thread.join()
        assert gradient(2.0) == 1.0
    """)


@pytest.mark.parametrize("name", ["np.exp", "np.arctan2", "scipy.special.erf"])
def test_the_first_large_statement_of_a_process(name):
    if name.startswith("scipy"):
        pytest.importorskip("scipy.special")
    python(f"""
        if {name!r}.startswith("scipy"):
            import scipy.special
        codipy.set_num_threads(2)
        x = np.linspace(0.1, 1.0, 20000)
        f = {name}
        gradient = codipy.grad(lambda x: np.sum(f(*[x] * f.nin)))(x)
        assert np.isfinite(gradient).all()
    """)


@pytest.mark.parametrize("wrong", [0, -1, 257, 10 ** 30])
def test_numbers_out_of_range(wrong):
    with pytest.raises(ValueError, match="between 1 and 256 threads"):
        codipy.set_num_threads(wrong)


@pytest.mark.parametrize("wrong", [True, 2.0, "2", "auto", [2], np.array([2])])
def test_what_is_no_number_of_threads(wrong):
    with pytest.raises(TypeError, match="integer or None"):
        codipy.set_num_threads(wrong)


@pytest.mark.skipif(not tiles.HAS_THREADS, reason="no threads here")
def test_what_is_set(monkeypatch):
    codipy.set_num_threads(np.int64(5))
    assert codipy.get_num_threads() == 5
    for text, count in [("3", 3), ("4,2", 4), (" 2 ", 2), ("1000", 256)]:
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        codipy.set_num_threads(None)
        assert codipy.get_num_threads() == count
    for text in ["two", "0", "-1", "2.5", "²"]:
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        with pytest.raises(ValueError, match="OMP_NUM_THREADS"):
            codipy.set_num_threads(None)
    assert codipy.get_num_threads() == 256
    for empty in ["", "absent"]:
        monkeypatch.setenv("OMP_NUM_THREADS", empty)
        if empty == "absent":
            monkeypatch.delenv("OMP_NUM_THREADS")
        codipy.set_num_threads(None)
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        assert codipy.get_num_threads() == min(processors, 256)


def test_one_thread_unless_asked():
    assert python("print(codipy.get_num_threads())", OMP_NUM_THREADS="4") == ["1"]
