# SPDX-License-Identifier: Apache-2.0
"""What stands for each compiled loop of scipy.sparse: what has no rule is refused where values are active."""

from __future__ import annotations

from scipy.sparse import _sparsetools as _compiled

from codipy.numpy.modules import module_for
from codipy.scipy.kernels import moves, pairs, products, sums
from codipy.scipy.kernels.calls import on_values, refused_loop

__all__ = ["FUNCTIONS", "PASSIVE", "REFUSED"]

# Those that read no values, or compare them.
_PLAIN = ("cs_graph_components", "csc_matmat_maxnnz", "csr_column_index1", "csr_count_blocks",
          "csr_has_canonical_format", "csr_has_sorted_indices", "csr_matmat_maxnnz", "csr_sample_offsets",
          "expandptr")  # fmt: skip
# Over columns, which SciPy has until 1.15: the loop over rows of the transposed matrix.
_OF_COLUMNS = {
    "csc_diagonal": lambda loop: lambda k, high, wide, *rest: loop(-k, wide, high, *rest),
    "csc_matmat": lambda loop: lambda high, wide, *rest: loop(wide, high, *rest[3:6], *rest[:3], *rest[6:]),
    **dict.fromkeys(
        ("csc_eldiv_csc", "csc_elmul_csc", "csc_maximum_csc", "csc_minimum_csc", "csc_minus_csc", "csc_plus_csc",
         "csc_tocsr"),
        lambda loop: lambda high, wide, *rest: loop(wide, high, *rest),
    ),
}  # fmt: skip
_OF_ROWS = {"csc_tocsr": "csr_tocsc"}  # of others the name is that of the loop over columns, with another letter
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
_OTHERS = {name: original for name, original in vars(_compiled).items() if callable(original)
           and name not in FUNCTIONS and name not in _OF_COLUMNS and not name.startswith(("_", "test_"))}  # fmt: skip
PASSIVE = {name for name in _OTHERS if name in _PLAIN or any(part in name for part in _COMPARED)}
REFUSED = _OTHERS.keys() - PASSIVE
FUNCTIONS |= {name: _standing_for(name, original) for name, original in _OTHERS.items()}
FUNCTIONS |= {name: made(FUNCTIONS[_OF_ROWS.get(name, name.replace("csc", "csr"))])
              for name, made in _OF_COLUMNS.items() if hasattr(_compiled, name)}  # fmt: skip
_sparsetools = module_for(_compiled, FUNCTIONS)
