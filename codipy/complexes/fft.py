# SPDX-License-Identifier: Apache-2.0
"""Rules of numpy.fft on complex arrays, and on real ones whose transform is complex: the reverse is linear as well."""

from __future__ import annotations

import numpy as np

from codipy.complexes.record import rule
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.fft import REVERSES

__all__ = ["FUNCTIONS", "linear"]

_fft = np.fft
# By the name of a transform its transposed one, with the norm exchanged.
_TURNED = {
    "fft.fft": _fft.ifft, "fft.ifft": _fft.fft, "fft.fft2": _fft.ifft2, "fft.ifft2": _fft.fft2, "fft.fftn": _fft.ifftn,
    "fft.ifftn": _fft.fftn,
}  # fmt: skip
_REAL = {"irfft", "irfft2", "irfftn", "hfft", "hfft2", "hfftn"}


def linear(name, forward, reverse):
    """Enter the rule of a transform, of which `reverse` is the transposed map."""

    def vjp(g, out, args, kwargs, argnums):
        return [reverse(g, *args, **kwargs)]

    def jvp(tangents, out, args, kwargs):
        return forward(tangents[0], *args[1:], **kwargs)

    def into(g, out, args, kwargs, k, bar):
        if len(args) > 1 or kwargs or g.shape != bar.shape:
            return False
        turned = _TURNED[name](g, norm="forward", out=bar)
        if turned is not bar:      # NumPy's ifft2 does not write into what it is given
            bar[...] = turned
        return True

    of_same_shape = into if name in _TURNED else None
    made = Primitive(name, forward, vjp, jvp, keep_args=False, keep_out=False, into=of_same_shape)
    rule(made, "r" if name.rpartition(".")[2] in _REAL else "a")


for _name, _reverse in REVERSES.items():
    linear(_name, getattr(_fft, _name.removeprefix("fft.")), _reverse)

FUNCTIONS = frozenset(REVERSES)
