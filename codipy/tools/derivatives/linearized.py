# SPDX-License-Identifier: Apache-2.0
"""A gradient that `linearize` keeps: one recording of the function, swept for each vector, and nothing nested."""
from __future__ import annotations

import threading

from codipy.active.array import is_active
from codipy.errors import ActiveError
from codipy.tools.arguments.choice import Choice
from codipy.tools.arguments.leaves import is_complex, join
from codipy.tools.callee import rebound
from codipy.tools.derivatives.curvature import Curvature, is_swept
from codipy.tools.derivatives.gradient import Gradient
from codipy.tools.runs.run import seeds_of

__all__ = ["GradientRun", "gradient_run"]


def gradient_run(f, args, kwargs, choice, has_aux, strategy, granularity):
    """The run of a gradient by the very arguments that it is linearized in; None where sweeps do not know it."""
    if type(f) is not Gradient or f.maker.__name__ != "grad" or has_aux or f.options["has_aux"]:
        return None
    own = Choice(f.options["argnums"], f.options["argnames"], with_complex=True)
    if own.names or choice.names or own.positions != choice.positions:
        return None
    if not is_swept(strategy) or not is_swept(f.options["strategy"]):
        return None
    run = GradientRun(f, own, args, kwargs, granularity or f.options["granularity"])
    return run if run.known else None


class GradientRun:
    """What `Run` is for other functions.

    Attributes
    ----------
    known : bool
        Whether the recording can be swept.
    value : object
        The gradient.
    number : float
        The value of the function.
    trees, leaves : list
        The arguments that are differentiated by, and their leaves.
    """

    def __init__(self, gradient, choice, args, kwargs, granularity):
        f = gradient.f
        choice.check(args, f)
        self.choice, self._lock = choice, threading.Lock()
        given, args, kwargs = args, list(args), dict(kwargs)
        self.trees, self.leaves, places = choice.take(args, kwargs, f)
        self.known = not any(map(is_complex, self.leaves))
        if not self.known:
            return
        run = rebound(f) if gradient.options["rebind"] else f
        self._curvature = Curvature(run, f, args, kwargs, self.leaves, choice.placer(self.trees, places, kwargs),
                                    granularity, given, "function")
        self.known = self._curvature.known
        if self.known:
            self.value, self.number = self._given(self._curvature.gradient()), self._curvature.value
        else:
            self._curvature.close()

    def push(self, tangents):
        """The tangent of the gradient: the Hessian times a vector."""
        seeds = seeds_of(self.trees, tangents)
        if any(map(is_active, seeds)):
            raise ActiveError("a tangent is a variable of a recording that began after this gradient was linearized: "
                              "call codipy.linearize inside of what is differentiated")
        with self._lock:      # a sweep takes the memory that the one before has left
            product = self._curvature.products(join(seeds)[None])[0]
        return self._given(product)

    def hessian(self):
        """All second derivatives by the numbers of the leaves."""
        with self._lock:
            return self._curvature.hessian()

    def close(self):
        """Give the tape back: nothing can be swept any more."""
        self._curvature.close()

    def _given(self, vector):
        return self.choice.give(self.trees, self.leaves, self._curvature.cut(vector))
