# SPDX-License-Identifier: Apache-2.0
"""What do passes over a recording save, in time of a sweep and in bytes?"""
import chains
from timing import Figure


def _rows():
    from codipy.laboratory import passes
    start = chains.burgers_start(60)
    found = passes(lambda x: chains.burgers(x, None, cells=60, steps=26), start, strategies="auto",
                   granularities="statement", repeat=7)
    return {row.after: row for row in found.rows}


def _detail(rows):
    alone = ", ".join(f"{name} {rows[name].faster.median:.2f}" for name in ("dead", "equal", "merge", "renumber"))
    before, after = rows["none"], rows["all"]
    return (f"times faster: {alone}, all {after.faster}; arguments {before.arguments} to {after.arguments}, recorded "
            f"{before.recorded / 1e6:.1f} to {after.recorded / 1e6:.1f} MB, adjoints "
            f"{before.adjoint_bytes / 1e6:.2f} to {after.adjoint_bytes / 1e6:.2f} MB")


def sweep():
    """The default tape of a loop over floats."""
    rows = _rows()
    return Figure("Burgers' equation 60x60 in loops, 26 steps: sweep after all passes / before",
                  1.0 / rows["all"].faster.median, 0.8, detail=_detail(rows), question="passes")


def recorded():
    """Recording and adjoint vector."""
    rows = _rows()
    before, after = (rows[name].recorded + rows[name].adjoint_bytes for name in ("none", "all"))
    return Figure("Burgers' equation 60x60 in loops, 26 steps: bytes after all passes / before",
                  after / before, 0.8, detail=_detail(rows), question="passes-bytes")


QUESTIONS = {"passes": sweep, "passes-bytes": recorded}
