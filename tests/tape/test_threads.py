# SPDX-License-Identifier: Apache-2.0
"""Threads, Ctrl-C, fork and the end of the interpreter: a tape is whole and usable after each of them."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import codipy
from codipy.active import FUNCTIONS
from codipy.errors import TapeError
from tests.strategies import STRATEGIES, each_strategy

sin = FUNCTIONS["sin"]


def run(*functions):
    """Run the functions on threads of their own, together; errors and results come back."""
    results = [None] * len(functions)
    barrier = threading.Barrier(len(functions))

    def call(i):
        barrier.wait()
        try:
            results[i] = functions[i]()
        except BaseException as error:
            results[i] = error

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


def on_a_thread(function):
    return run(function)[0]


def chain(tape, n, start=0.5):
    with tape:
        x = tape.register_input(start)
        y = x
        for _ in range(n):
            y = sin(y) + x
        return x, tape.register_output(y)


@each_strategy
def test_one_tape_from_two_threads(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(2.0)
        held = x * 3.0
        assert isinstance(on_a_thread(tape.set_active), TapeError)
        assert "thread" in str(on_a_thread(tape.set_active))
        for use in (lambda: x * 2.0, lambda: held + 1.0, lambda: tape.register_output(x), tape.set_passive):
            assert isinstance(on_a_thread(use), TapeError)
        assert on_a_thread(codipy.active_tape) is None
        y = tape.register_output(held * x)
    tape._check()
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 12.0
    assert on_a_thread(lambda: chain(tape, 3)[1].value) == chain(codipy.Tape(), 3)[1].value


@each_strategy
def test_tapes_on_threads_do_not_meet(strategy):
    def work(start):
        tape = codipy.Tape(strategy=strategy, chunk_size=16)
        gradients = set()
        for _ in range(20):
            x, y = chain(tape, 200, start)
            y.gradient = 1.0
            tape.evaluate()
            gradients.add(x.gradient)
            tape.reset()
        tape._check()
        return gradients

    alone = [work(0.1 * i) for i in range(4)]
    together = run(*[lambda i=i: work(0.1 * i) for i in range(4)])
    assert together == alone
    assert all(len(gradients) == 1 for gradients in alone)


@each_strategy
def test_external_adjoints_on_other_threads(strategy):
    tape = codipy.Tape(strategy=strategy)
    x, y = chain(tape, 20000)
    y.gradient = 1.0
    tape.evaluate()
    expected = x.gradient

    def sweep(width):
        adjoints = tape.new_adjoints(width=width)
        adjoints[y] = 1.0
        tape.evaluate(adjoints=adjoints)
        found = adjoints[x]
        return [found] if width == 1 else found.tolist()

    for _ in range(5):
        assert run(lambda: sweep(1), lambda: sweep(3), lambda: sweep(1)) == [[expected], [expected] * 3, [expected]]
    # All locks are given back: the tape records again.
    with tape:
        z = tape.register_output(x * 2.0)
    tape.clear_adjoints()
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 2.0


def long_sweep(tape, y, seconds=0.5):
    """Adjoints so wide that a sweep takes about `seconds`."""
    width = 1
    while True:
        adjoints = tape.new_adjoints(width=width)
        adjoints[y] = 1.0
        begin = time.perf_counter()
        tape.evaluate(adjoints=adjoints)
        if time.perf_counter() - begin > seconds or width >= 256:
            adjoints.clear()
            adjoints[y] = 1.0
            return adjoints
        width *= 2


@each_strategy
def test_recording_while_another_thread_sweeps(strategy):
    tape = codipy.Tape(strategy=strategy)
    x, y = chain(tape, 50000)
    adjoints = long_sweep(tape, y)
    refused = 0
    done = threading.Event()

    def sweep():
        try:
            tape.evaluate(adjoints=adjoints)
        finally:
            done.set()

    thread = threading.Thread(target=sweep)
    thread.start()
    while not done.is_set():
        for use in (lambda: chain(tape, 2), tape.reset, tape.reset_hard, tape.clear_adjoints, tape.delete_adjoints):
            if not tape.store.root.locked:
                break  # before the sweep began, or after it ended, these are allowed and would drop the recording
            try:
                use()
            except TapeError as error:
                assert "sweep" in str(error)
                refused += 1
        time.sleep(0)
    thread.join()
    assert refused > 0
    assert codipy.active_tape() is None
    tape.reset()
    x, y = chain(tape, 3)
    y.gradient = 1.0
    tape.evaluate()
    tape._check()
    assert x.gradient != 0.0


INTERRUPTED = """
import os, signal, sys, threading, time
import codipy
from codipy.active import FUNCTIONS
signal.signal(signal.SIGINT, signal.default_int_handler)      # a background job inherits it ignored
strategy, sweep = sys.argv[1:]
tape = codipy.Tape(strategy=strategy)
with tape:
    x = tape.register_input(0.5)
    y = x
    for _ in range(100000):
        y = FUNCTIONS["sin"](y) + x
    y = tape.register_output(y)
run = {"reverse": tape.evaluate, "forward": tape.evaluate_forward, "primal": tape.evaluate_primal}[sweep]
def gradient():
    tape.clear_adjoints()
    y.gradient = 1.0
    tape.evaluate()
    return x.gradient
expected = gradient()
value = y.value

def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
begin = time.perf_counter()
try:
    while time.perf_counter() - begin < 30.0:
        run()
except KeyboardInterrupt:
    print("interrupted")
tape._check()
assert gradient() == expected
if sweep == "primal":
    tape.evaluate_primal()
    assert tape.get_primal(y) == value
with tape:
    z = tape.register_output(x * 2.0)
tape.clear_adjoints()
z.gradient = 1.0
tape.evaluate()
assert x.gradient == 2.0
print("usable")
"""


def python(code, *arguments):
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code), *arguments],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


@pytest.mark.parametrize(
    ("strategy", "sweep"),
    [(strategy, "reverse") for strategy in STRATEGIES] + [("primal-reuse", "forward"), ("primal-reuse", "primal"),
                                                          ("primal", "primal"), ("jacobian", "forward")],
)  # fmt: skip
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
def test_ctrl_c_leaves_the_tape_usable(strategy, sweep):
    assert python(INTERRUPTED, strategy, sweep) == ["interrupted", "usable"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
@pytest.mark.skipif(os.environ.get("CODIPY_TRACE") == "1", reason="a signal inside the tracer switches the tracer off")
@each_strategy
def test_ctrl_c_ends_a_sweep_before_its_end(strategy):
    # So many statements that the signal is seen inside the one sweep, so wide that it takes longer than the timer.
    tape = codipy.Tape(strategy=strategy, granularity="operation")
    with tape:
        x = tape.register_input(0.5)
        y = x
        for _ in range(2_500_000):
            y = -y
        y = tape.register_output(y)
    adjoints = tape.new_adjoints(width=8)
    adjoints[y] = 1.0

    def handler(*_):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            tape.evaluate(adjoints=adjoints)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    with pytest.raises(TapeError, match="swept in part"):
        adjoints[x]
    tape.reset()
    chain(tape, 3)
    tape._check()


def test_exit_with_live_tapes():
    lines = python(
        """
        import codipy, sys, threading
        from codipy.active import FUNCTIONS
        tapes = []
        for strategy in codipy.tape.strategies.table.STRATEGIES:
            tape = codipy.Tape(strategy=strategy)
            tape.set_active()
            x = tape.register_input(2.0)
            y = FUNCTIONS["sin"](x * x) + 1.0
            tapes.append((tape, x, y, tape.position(), tape.new_adjoints(2)))
        sys.keep = tapes                       # outlives the modules
        kept = codipy.Tape("jacobian-reuse")   # a variable without its tape
        with kept:
            lonely = kept.register_input(1.0) * 2.0
        del kept
        def record():
            tape = codipy.Tape("primal-reuse")
            tape.set_active()
            sys.more = (tape, tape.register_input(2.0) * 3.0)
        thread = threading.Thread(target=record)
        thread.start()
        thread.join()
        print("end")
        """
    )
    assert lines == ["end"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@each_strategy
def test_fork(strategy):
    lines = python(
        """
        import os, sys
        import codipy
        from codipy.active import FUNCTIONS
        tape = codipy.Tape(strategy=sys.argv[1], chunk_size=4)
        with tape:
            x = tape.register_input(2.0)
            held = x * x
            child = os.fork()
            y = tape.register_output(FUNCTIONS["sin"](held) + held)
        y.gradient = 1.0
        tape.evaluate()
        tape._check()
        if child:
            assert os.waitpid(child, 0)[1] == 0
        print(x.gradient, flush=True)
        """,
        strategy,
    )
    assert len(lines) == 2
    assert lines[0] == lines[1]
