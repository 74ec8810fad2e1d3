# SPDX-License-Identifier: Apache-2.0
"""Rules of numpy.fft on complex arrays, and on real ones whose transform is complex: the reverse is linear as well."""

from __future__ import annotations

import numpy as np

from codipy.complexes.record import rule
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.fft import REVERSES

__all__ = ["FUNCTIONS"]

_REAL = {"fft.irfft", "fft.irfft2", "fft.irfftn", "fft.hfft"}


def _rule(name, forward, reverse):
    def vjp(g, out, args, kwargs, argnums):
        return [reverse(g, *args, **kwargs)]

    def jvp(tangents, out, args, kwargs):
        return forward(tangents[0], *args[1:], **kwargs)

    rule(Primitive(name, forward, vjp, jvp, keep_args=False, keep_out=False), "r" if name in _REAL else "a")


for _name, _reverse in REVERSES.items():
    _rule(_name, getattr(np.fft, _name.removeprefix("fft.")), _reverse)

FUNCTIONS = frozenset(REVERSES)
