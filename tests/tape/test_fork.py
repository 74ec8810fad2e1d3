# SPDX-License-Identifier: Apache-2.0
"""A child that was forked while another thread swept can use the tape again; the parent's sweep goes on."""

import os
import threading

import numpy as np
import pytest

import codipy
from codipy.active.array import call
from codipy.errors import TapeError
from codipy.numpy.primitive import Primitive
from tests.recording import still_works
from tests.strategies import AS_VALUES, each_as_values, each_strategy

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


class Slow:
    """A primitive, y = 2 x, whose rules wait in the middle of a sweep until they are told to go on."""

    def __init__(self):
        self.waits, self.began, self.go_on = False, threading.Event(), threading.Event()
        self.primitive = Primitive(
            "slow",
            lambda x: self.wait(2.0 * x),
            lambda g, out, args, kwargs, argnums: [self.wait(2.0 * g)],
            lambda tangents, out, args, kwargs: self.wait(2.0 * tangents[0]),
        )

    def wait(self, result):
        if self.waits:
            self.began.set()
            assert self.go_on.wait(60)
        return result


def succeeds_in_child(check):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            check()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def uses_again(tape, adjoints):
    tape._check()
    tape.reset()
    x, y = still_works(tape)
    if adjoints is not None:
        adjoints[y] = 1.0
        tape.evaluate(adjoints=adjoints)
        assert adjoints[x] == 6.0
    if tape.strategy in AS_VALUES:
        tape.set_primal(x, 4.0)
        tape.evaluate_primal()
        assert tape.get_primal(y) == 17.0
    tape._check()


def swept(tape, sweep, external, check):
    """Run `check` in a forked process while another thread is in the middle of a sweep."""
    slow = Slow()
    with tape:
        x = slow.x = tape.register_input(np.array([1.0, 3.0]))
        y = tape.register_output(call(slow.primitive, (x * x,)) * x)
    adjoints = tape.new_adjoints() if external else None
    own = {} if adjoints is None else {"adjoints": adjoints}
    vector = adjoints if external else {}
    if external:
        adjoints[y] = 1.0
    else:
        y.gradient = 1.0
    slow.waits = True
    thread = threading.Thread(target=getattr(tape, sweep), kwargs=own)
    thread.start()
    try:
        assert slow.began.wait(60)
        with pytest.raises(TapeError, match="sweep"):
            tape.reset()
        passed = succeeds_in_child(lambda: check(slow, adjoints))
        with pytest.raises(TapeError, match="sweep"):
            tape.reset()
    finally:
        slow.go_on.set()
        thread.join()
    assert passed
    if sweep == "evaluate":
        assert np.array_equal(vector[x] if external else x.gradient, 6.0 * x.value**2)
    tape.reset()


@pytest.mark.release  # a child waits for ever for the lock of a sanitizer's allocator that another thread held
@each_strategy
@pytest.mark.parametrize("sweep", ["evaluate", "evaluate_forward"])
@pytest.mark.parametrize("external", [False, True])
def test_the_child_resets_a_tape_that_another_thread_swept(strategy, sweep, external):
    tape = codipy.Tape(strategy=strategy)
    swept(tape, sweep, external, lambda _, adjoints: uses_again(tape, adjoints))


@pytest.mark.release  # as above
@each_as_values
def test_the_child_resets_a_tape_that_another_thread_replayed(strategy):
    tape = codipy.Tape(strategy=strategy)
    swept(tape, "evaluate_primal", False, lambda _, adjoints: uses_again(tape, adjoints))


def test_a_sweep_that_forks_goes_on_in_the_child():
    tape = codipy.Tape()
    children = []

    def fork(g, out, args, kwargs, argnums):
        child = os.fork()
        with pytest.raises(TapeError, match="sweep"):
            tape.reset()
        children.append(child)
        return [2.0 * g]

    with tape:
        x = tape.register_input(np.array([1.0, 3.0]))
        y = tape.register_output(call(Primitive("fork", lambda x: 2.0 * x, fork), (x * x,)) * x)
    y.gradient = 1.0
    status = 1
    try:
        tape.evaluate()
        right = np.array_equal(x.gradient, 6.0 * x.value**2)
        tape.reset()
        status = 0
    finally:
        if children == [0]:
            os._exit(status if right else 1)
    assert right and os.waitpid(children[0], 0)[1] == 0
