# SPDX-License-Identifier: Apache-2.0
"""Who looks on while things are recorded."""

cdef object watcher = None


def unwatched(kind, **parameters):
    """A tape for a recording that is there already, which is what it was recorded as also while somebody looks on.

    Parameters
    ----------
    kind : type
        Its class.
    **parameters
        What it is made with.

    Returns
    -------
    Tape
    """
    global watcher
    before, watcher = watcher, None
    try:
        return kind(**parameters)
    finally:
        watcher = before


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
