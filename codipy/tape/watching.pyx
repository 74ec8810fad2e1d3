# SPDX-License-Identifier: Apache-2.0
"""Who looks on while things are recorded."""

cdef object watcher = None


def watched_by(new):
    """Let somebody look on from now on, on all threads.

    Parameters
    ----------
    new : object or None
        With the methods ``made(tape)``, ``began(tape)``, ``ended(tape)``, ``input(tape, x)``, ``output(tape, y)``,
        ``sweeps(tape, adjoints, whole)`` and ``plain(x, value)``, which returns what `x` gives as its value.

    Returns
    -------
    object or None
        Who did so far.
    """
    global watcher
    before, watcher = watcher, new
    return before
