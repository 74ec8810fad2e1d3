# SPDX-License-Identifier: Apache-2.0
"""A signal ends a study whenever it comes, and the process that the study has started."""

import multiprocessing
import multiprocessing.process
import os
import signal
import subprocess

import pytest

from codipy.laboratory import process, study
from codipy.laboratory.command import ended_as_by_ctrl_c
from tests.laboratory.models import heat

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no such signals")
NAMES = ["SIGINT", "SIGTERM", "SIGHUP"]


@pytest.fixture
def ending(request):
    """The number of a signal that is as in a terminal, where tests may run in the background and ignore it."""
    number = getattr(signal, request.param)
    before = signal.signal(number, signal.default_int_handler)
    yield number
    signal.signal(number, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("ending", NAMES, indirect=True)
def test_one_of_which_python_drops_the_exception(ending):
    class Late:
        def __del__(self):
            os.kill(os.getpid(), ending)
            sum(range(10))

    calls = []
    with ended_as_by_ctrl_c(lambda *done: calls.append(done)) as progress:
        progress(0, 2, "")
        Late()
        with pytest.raises(KeyboardInterrupt):
            progress(1, 2, "")
    assert calls == [(0, 2, "")]


@pytest.mark.parametrize("ending", NAMES, indirect=True)
@pytest.mark.parametrize("kind", [subprocess.Popen, multiprocessing.process.BaseProcess], ids=["fresh", "forked"])
def test_one_while_a_process_is_started(ending, kind, monkeypatch):
    name = "__init__" if kind is subprocess.Popen else "start"
    start, started = getattr(kind, name), []

    def started_and_ended(self, *args, **options):
        start(self, *args, **options)
        started.append(self)
        os.kill(os.getpid(), ending)
        sum(range(10))

    monkeypatch.setattr(kind, name, started_and_ended)
    if kind is not subprocess.Popen:
        monkeypatch.setattr(process, "_fresh", process._forked)
    found = study(heat, sizes=[4], strategies=["jacobian"], granularities=["statement"], repeat=1)
    assert found.header["finished"] is False and len(started) == 1
    ended = started[0].returncode if kind is subprocess.Popen else started[0].exitcode
    assert ended == -signal.SIGKILL
