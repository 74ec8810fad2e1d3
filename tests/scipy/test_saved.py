# SPDX-License-Identifier: Apache-2.0
"""Recordings with SciPy's functions are saved, and swept and run again by who has not the program."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import codipy
from codipy.scipy import algebra, calls, normalised
from tests.files.test_tape_files import bits, saved, sweeps
from tests.scipy.test_linalg import CASES, program

X = np.linspace(-1.0, 1.5, 12).reshape(3, 4)


def special(x):
    from scipy.special import gammaln, log_softmax, logsumexp, softmax

    return np.sum(logsumexp(x, axis=1) * softmax(x, axis=0)[:, 1]) + log_softmax(x)[0, 1] + gammaln(x[2, 3])


PROGRAMS = {text: (program(text), CASES[text]) for text in CASES} | {"special": (special, (X,))}


def tape_of(name, strategy="primal"):
    function, arguments = PROGRAMS[name]
    tape = codipy.Tape(strategy)
    with tape:
        tape.register_output(codipy.rebind(function)(*[tape.register_input(x) for x in arguments]))
    return tape


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_loaded_tape_gives_the_same_bits(name, tmp_path):
    for strategy in ("auto", "primal"):
        tape = tape_of(name, strategy)
        loaded = saved(tape, tmp_path / "a.tape")
        assert sweeps(loaded) == sweeps(tape)
    for each in (tape, loaded):
        for x in each.inputs:
            each.set_primal(x, x.value * 1.01)
        each.evaluate_primal()
    assert bits(loaded.get_primal(loaded.outputs[0])) == bits(tape.get_primal(tape.outputs[0]))
    assert sweeps(loaded) == sweeps(tape)


SWEEP = """
import sys, codipy, numpy as np
for path in sys.argv[1:]:
    tape = codipy.load_tape(path)
    tape.outputs[0].gradient = 1.0
    tape.evaluate()
    print(tape.outputs[0].value.hex(), *(np.ravel(x.gradient).tobytes().hex() for x in tape.inputs))
"""


def test_a_fresh_process_sweeps_them(tmp_path):
    paths, expected = [], []
    for k, name in enumerate(PROGRAMS):
        tape = tape_of(name)
        paths.append(str(tmp_path / f"{k}.tape"))
        tape.save(paths[-1])
        (y,) = tape.outputs
        y.gradient = 1.0
        tape.evaluate()
        expected.append(" ".join([y.value.hex(), *(np.ravel(x.gradient).tobytes().hex() for x in tape.inputs)]))
    for some in (paths[-1:], paths):  # the first knows nothing of scipy.linalg
        command = [sys.executable, "-c", SWEEP, *some]
        found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
        assert found.stdout.split("\n")[:-1] == expected[-len(some) :]


@pytest.mark.parametrize("pivots", [[0, 10**8], [-(10**8), 1], [0.0, 1.0], [0]])
def test_pivots_of_a_file_are_not_believed(pivots):
    """LAPACK reads and writes wherever they point."""
    rule = calls.PRIMITIVES["scipy.linalg.lu_solve"]
    lu, b, options = np.eye(2), np.ones(2), {"pivots": np.array(pivots), "trans": 0}
    with pytest.raises(ValueError, match="pivots"):
        rule.forward(lu, b, **options)
    with pytest.raises(ValueError, match="pivots"):
        rule.vjp(b, b, (lu, b), options, [1])
    with pytest.raises(ValueError, match="pivots"):
        rule.jvp({1: b}, b, (lu, b), options)


def test_no_two_primitives_have_a_name():
    assert algebra and normalised
    for name, primitive in calls.PRIMITIVES.items():
        assert primitive.name == name
        with pytest.raises(ValueError, match="two primitives"):
            calls.kept(codipy.Primitive(name, primitive.forward, primitive.vjp))
