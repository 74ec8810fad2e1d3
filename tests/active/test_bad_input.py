# SPDX-License-Identifier: Apache-2.0
"""What a Real says to bad input: the message names the argument and the fix, and the tape stays whole and usable."""

import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import codipy
from codipy import Real
from codipy.errors import TapeError
from tests.strategies import STRATEGIES


@pytest.fixture(params=STRATEGIES)
def tape(request):
    return codipy.Tape(strategy=request.param)


def usable(tape):
    """The tape still records and sweeps right."""
    tape._check()
    tape.reset()
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x + x)
    tape._check()
    y.gradient = 1.0
    tape.evaluate()
    assert (y.value, x.gradient) == (12.0, 7.0)
    return True


OPERATIONS = {
    "binary": lambda x: x + 1.0,
    "reflected": lambda x: 1.0 - x,
    "unary": lambda x: -x,
    "function": lambda x: codipy.math.sin(x),
    "method": lambda x: x.sin(),
    "ufunc": lambda x: np.sin(x),
    "array": lambda x: x * np.ones(2),
    "fsum": lambda x: codipy.math.fsum([x, 1.0]),
    "hypot": lambda x: codipy.math.hypot(x, 1.0, 2.0),
    "dist": lambda x: codipy.math.dist([x, 1.0], [0.0, 2.0]),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@pytest.mark.parametrize("pending", [False, True])
def test_a_variable_of_another_tape(tape, operation, pending):
    other = codipy.Tape()
    with other:
        x = other.register_input(2.0)
        x = x * 3.0 if pending else x
    with tape:
        mine = tape.register_input(1.0)
        before = tape.statements
        with pytest.raises(TapeError, match=r"another tape.*codipy\.value\(x\).*register_input"):
            operation(x)
        with pytest.raises(TapeError, match="another tape"):
            mine * x
        assert tape.statements == before
    assert usable(tape)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@pytest.mark.parametrize("pending", [False, True])
def test_a_variable_from_before_a_reset(tape, operation, pending):
    with tape:
        x = tape.register_input(2.0)
        x = x * 3.0 if pending else x
    for reset in [tape.reset, tape.reset_hard]:
        reset()
        with tape, pytest.raises(TapeError, match=r"before a reset.*register"):
            operation(x)
    with pytest.raises(TapeError, match="reset"):
        x.gradient
    assert usable(tape)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_variable_outside_a_recording(tape, operation):
    with tape:
        x = tape.register_input(2.0)
    with pytest.raises(TapeError, match=r"no tape is recording.*codipy\.value\(x\).*with tape.*passive"):
        operation(x)
    with codipy.passive():
        operation(x)
    assert usable(tape)


def test_a_variable_after_a_partial_reset(tape):
    with tape:
        x = tape.register_input(2.0)
        place = tape.position()
        later = tape.register_output(x * x)
        tape.reset(place)
        with pytest.raises(TapeError, match="reset"):
            later + 1.0
        y = tape.register_output(x * 5.0)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 5.0
    assert usable(tape)


def test_a_variable_whose_tape_is_gone():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(2.0)
        pending = x * x
    del tape
    gc.collect()
    for variable in (x, pending):
        for call in [lambda v=variable: v.gradient, lambda v=variable: setattr(v, "gradient", 1.0)]:
            with pytest.raises(TapeError, match="no longer exists"):
                call()
        with codipy.Tape(), pytest.raises(TapeError, match="another tape or to a finished recording"):
            variable + 1.0
        assert "gone" in repr(variable) and variable.value in (2.0, 4.0)


def test_gradients_that_do_not_exist(tape):
    with pytest.raises(TapeError, match=r"passive: register it with tape\.register_input"):
        Real(2.0).gradient
    with pytest.raises(TapeError, match="passive"):
        Real(2.0).gradient = 1.0
    with tape:
        x = tape.register_input(2.0)
        y = x * x
        if tape.granularity == "statement":
            with pytest.raises(TapeError, match=r"register_output\(\)"):
                y.gradient
        z = y + 1.0
        tape.register_output(z)
    assert usable(tape)


@pytest.mark.parametrize(
    "seed", ["1", None, 1j, [1.0], np.ones(2), Real(1.0), object()], ids=lambda s: type(s).__name__
)
def test_seeds_of_the_wrong_type(tape, seed):
    with tape:
        x = tape.register_input(2.0)
    with pytest.raises(TypeError, match="gradient: a seed must be a plain real number"):
        x.gradient = seed
    for good in [1, True, np.float32(0.5), np.array(2.0)]:
        x.gradient = good
        assert x.gradient == float(good)
    assert usable(tape)


@pytest.mark.parametrize("wrong", ["1", None, [1.0], np.array(["a"]), object()], ids=lambda s: type(s).__name__)
def test_registering_what_is_no_number(tape, wrong):
    with tape:
        with pytest.raises(TypeError, match=r"^x: "):
            tape.register_input(wrong)
        with pytest.raises(TypeError, match=r"^y: "):
            tape.register_output(wrong)
    assert usable(tape)


def test_operands_of_the_wrong_type_leave_the_tape_alone(tape):
    with tape:
        x = tape.register_input(2.0)
        pending = x * x
        before = tape.statements
        for wrong in ["1", None, [1.0], {}, object()]:
            for call in [lambda w=wrong: pending + w, lambda w=wrong: w - pending, lambda w=wrong: pending**w]:
                with pytest.raises(TypeError):
                    call()
        for call in [lambda: pending / 0, lambda: (0 * x) ** -1, lambda: codipy.math.exp(x * 1e5)]:
            with pytest.raises((ArithmeticError, ValueError)):
                call()
        if tape.granularity == "statement":
            assert tape.statements <= before + 1, "at most the pending expression itself was pushed"
        y = tape.register_output(pending * 1.0)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 4.0
    assert usable(tape)


def test_an_exception_inside_a_recording(tape):
    with pytest.raises(RuntimeError, match="mine"), tape:
        x = tape.register_input(2.0)
        pending = x * x
        raise RuntimeError("mine")
    assert not tape.is_active and codipy.active_tape() is None
    with tape:
        y = tape.register_output(pending + x)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 5.0, "the recording goes on where it stopped"
    assert usable(tape)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_values_and_seeds_that_are_not_finite(tape, value):
    with tape:
        x = tape.register_input(value)
        y = tape.register_output(x * 2.0 + 1.0)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 2.0
    tape.clear_adjoints()
    y.gradient = value
    tape.evaluate()
    assert x.gradient == pytest.approx(2.0 * value, nan_ok=True)
    assert usable(tape)


def test_a_variable_on_another_thread(tape):
    errors = []

    def use(x):
        try:
            x + 1.0
        except TapeError as error:
            errors.append(str(error))

    with tape:
        x = tape.register_input(2.0)
        pending = x * x
        for variable in (x, pending):
            thread = threading.Thread(target=use, args=(variable,))
            thread.start()
            thread.join()
        assert len(errors) == 2 and all("another thread" in error for error in errors)
        y = tape.register_output(pending + x)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 5.0
    assert usable(tape)


def test_the_interpreter_ends_with_live_tapes_and_variables():
    program = """
import codipy
tapes = [codipy.Tape(strategy=s) for s in codipy.tape.strategies.table.STRATEGIES]
for tape in tapes:
    tape.set_active()
    x = tape.register_input(2.0)
    keep = [x * x, x + 1.0, codipy.math.fsum([x, x])]
    globals()[f"kept{tape.strategy}"] = keep
class Cycle: pass
c = Cycle(); c.c, c.v = c, x * 3.0
print("end")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork(tape):
    with tape:
        x = tape.register_input(2.0)
        pending = x * x
        child = os.fork()
        if child == 0:
            try:
                y = tape.register_output(pending + x)
                y.gradient = 1.0
                tape.evaluate()
                os._exit(0 if x.gradient == 5.0 else 1)
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        y = tape.register_output(pending * x)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 12.0
    assert usable(tape)
