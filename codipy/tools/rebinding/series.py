# SPDX-License-Identifier: Apache-2.0
"""What functions of ``numpy.polynomial`` in rebound code call to leave out the highest coefficients, which are zero."""

from __future__ import annotations

from numpy.polynomial.polyutils import trimseq as plain

from codipy.active.messages.dropped import refuse_left_out
from codipy.numpy.arguments import value_tree

__all__ = ["FUNCTIONS"]


def trimseq(seq):
    """NumPy's, where nothing that it leaves out has a derivative."""
    size = len(plain(value_tree(seq)))
    if size < len(seq):
        refuse_left_out([seq[size:]])
    return seq[:size]


FUNCTIONS = {"trimseq": trimseq}
