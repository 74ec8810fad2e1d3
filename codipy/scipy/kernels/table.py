# SPDX-License-Identifier: Apache-2.0
"""What stands for each compiled loop of scipy.sparse: what has no rule is refused where values are active."""

from __future__ import annotations

from scipy.sparse import _sparsetools as _compiled

from codipy.numpy.modules import module_for
from codipy.scipy.kernels import moves, pairs, products, sums
from codipy.scipy.kernels.calls import on_values, refused_loop

__all__ = ["FUNCTIONS", "PASSIVE", "REFUSED"]

# Those that read no values, or compare them.
_PLAIN = ("cs_graph_components", "csr_column_index1", "csr_count_blocks", "csr_has_canonical_format",
          "csr_has_sorted_indices", "csr_matmat_maxnnz", "csr_sample_offsets", "expandptr")  # fmt: skip
_COMPARED = ("_ne_", "_lt_", "_gt_", "_le_", "_ge_")
_WHAT = {"_eldiv_": "the quotient of two sparse matrices", "_maximum_": "A.maximum(B)", "_minimum_": "A.minimum(B)",
         "_nd": "sparse arrays of other than two axes"}  # fmt: skip


def _on_values(original):
    return lambda *args: on_values(original, args)


def _standing_for(name, original):
    if name in PASSIVE:
        return _on_values(original)
    what = next((text for part, text in _WHAT.items() if part in name), "this operation of sparse matrices")
    return refused_loop(name, original, what)


FUNCTIONS = {**moves.LOOPS, **sums.LOOPS, **products.LOOPS, **pairs.LOOPS}
_OTHERS = {name: original for name, original in vars(_compiled).items()
           if callable(original) and name not in FUNCTIONS and not name.startswith(("_", "test_"))}  # fmt: skip
PASSIVE = {name for name in _OTHERS if name in _PLAIN or any(part in name for part in _COMPARED)}
REFUSED = _OTHERS.keys() - PASSIVE
FUNCTIONS |= {name: _standing_for(name, original) for name, original in _OTHERS.items()}
_sparsetools = module_for(_compiled, FUNCTIONS)
