# SPDX-License-Identifier: Apache-2.0
"""Array statements on threads with small stacks, which some C libraries give by default, and without memory."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import codipy
from codipy.programs import tiles
from tests.active.recording import new_tape
from tests.strategies import STRATEGIES, each_pair

LEAST = 128 * 1024  # bytes, what musl gives
WORK = """
    import sys, threading
    import numpy as np, codipy

    def program(tape, n, dtype):
        with tape:
            x = tape.register_input(np.linspace(0.5, 1.5, n).astype(dtype))
            y = np.sin(x) * x + np.exp(-x) / (1.0 + x * x) - np.hypot(x, 2.0)
            y[1:] = y[:-1] * x[1:]
            y[0] = x[1] * 3.0
            z = y.reshape(2, -1).T + 1.0
            out = tape.register_output(np.sum(z * z) + np.dot(y, x) + np.max(y))
        out.gradient = 1.0
        tape.evaluate()
        tape.clear_adjoints()
        x.gradient = np.ones(n)
        tape.evaluate_forward()
        if ("primal" in tape.strategy or tape.strategy == "simple") and dtype == np.float64:
            tape.evaluate_primal()
        return out.gradient

    def work(strategy):
        for n in (4, 40, 400, 4000):
            for dtype in (np.float64, np.float32):
                program(codipy.Tape(strategy), n, dtype)

    def run():
        for strategy in sys.argv[2:]:
            work(strategy)
        print("done")

    run()                    # what is imported and looked up at the first use is not on the small stack
    threading.stack_size(int(sys.argv[1]))
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
"""


def test_everything_runs_on_a_small_stack():
    command = [sys.executable, "-c", textwrap.dedent(WORK), str(LEAST), *STRATEGIES]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "done\n" * 2), ran.stderr


def test_how_much_stack_an_array_statement_takes():
    """The least stack that carries it, beside the least that carries the same Python without arrays."""
    text = """
        import sys, threading
        import numpy as np, codipy
        def arrays():
            for dtype in (np.float64, np.float32):
                with codipy.Tape(sys.argv[2]) as tape:
                    x = tape.register_input(np.ones(1000, dtype))
                    y = tape.register_output(np.sin(x) * 2.0 + x)
                y.gradient = np.ones(1000)
                tape.evaluate()
        def scalars():
            with codipy.Tape(sys.argv[2]) as tape:
                x = tape.register_input(1.0)
                y = tape.register_output(np.sin(x) * 2.0 + x)
            y.gradient = 1.0
            tape.evaluate()
        f = {"arrays": arrays, "scalars": scalars}[sys.argv[3]]
        f()
        threading.stack_size(int(sys.argv[1]))
        thread = threading.Thread(target=f)
        thread.start()
        thread.join()
    """

    def runs(size, strategy, what):
        command = [sys.executable, "-c", textwrap.dedent(text), str(size), strategy, what]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def least(strategy, what):
        """In steps of 4 KiB, by halving."""
        low, high = 4, 64
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if runs(middle * 4096, strategy, what) else (middle + 1, high)
        return low * 4096

    for strategy in ("auto", "jacobian"):
        assert least(strategy, "arrays") - least(strategy, "scalars") <= 32 * 1024


@pytest.fixture
def no_space():
    yield lambda: tiles._without_space(True)
    tiles._without_space(False)


@each_pair()
@pytest.mark.parametrize("n", [5, 5000])
def test_a_statement_without_memory_leaves_the_tape_as_it_was(variant, n, no_space):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(np.linspace(1.0, 2.0, n))
        u = x * x
        u[:] = u + 1.0
        before, values = tape.statements, u.value.copy()
        no_space()
        with pytest.raises(MemoryError, match="registers"):
            u[1:3] = x[1:3] * 2.0
        with pytest.raises(MemoryError, match="registers"):
            (u * 3.0).value
        assert tape.statements == before and np.array_equal(u.value, values)
        tape._check()
        tiles._without_space(False)
        y = tape.register_output(u * x)
    y.gradient = 1.0
    tiles._without_space(True)
    with pytest.raises(MemoryError, match="registers"):
        tape.evaluate()
    tiles._without_space(False)
    tape.clear_adjoints()
    y.gradient = 1.0
    tape.evaluate()
    assert np.allclose(x.gradient, 3.0 * x.value**2 + 1.0)
    assert codipy.active_tape() is None
