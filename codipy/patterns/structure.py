# SPDX-License-Identifier: Apache-2.0
"""What an expression or a primitive depends on, and by which pairs of its arguments it has second derivatives.

Both are read off the table of operations: a partial whose text is ``0`` is none, whatever the arguments are.
"""

from __future__ import annotations

import functools

from codipy.numpy.links import DENSE
from codipy.operations import TABLE
from codipy.programs.program import instructions

__all__ = ["call_structure", "handle_structure", "tiles_structure"]


def _structure(leaves, steps):
    """The leaves on which an expression depends, and the pairs of them by which its second derivative is not zero."""
    reached, curved = [frozenset([k]) for k in range(leaves)], [frozenset()] * leaves
    for code, sources in steps:
        row, own, pairs = TABLE[code], frozenset(), frozenset()
        for k, source in enumerate(sources):
            if row.partials[k] != "0":
                own |= reached[source]
                pairs |= curved[source]
            for j in range(k + 1):
                if row.second[k * (k + 1) // 2 + j] != "0":      # packed as xx, xy, yy, xz, ...
                    pairs |= {(min(a, b), max(a, b)) for a in reached[source] for b in reached[sources[j]]}
        reached.append(own)
        curved.append(pairs)
    return reached[-1], curved[-1]


def _among(found, active):
    """The leaves that are active and matter, numbered among the active ones, and pairs of places among these."""
    reached, curved = found
    numbers = {leaf: number for number, leaf in enumerate(k for k, is_active in enumerate(active) if is_active)}
    kept = [leaf for leaf in numbers if leaf in reached]
    place = {leaf: k for k, leaf in enumerate(kept)}
    pairs = sorted((place[a], place[b]) for a, b in curved if a in place and b in place)
    return kept, tuple(numbers[leaf] for leaf in kept), tuple(pairs)


@functools.lru_cache(maxsize=4096)
def handle_structure(handle):
    """Of a scalar program: the arguments that matter, by number, and pairs of places among these."""
    active, steps = instructions(handle)
    _, kept, pairs = _among(_structure(len(active), [(code, sources) for code, _, sources in steps]), active)
    return kept, pairs


@functools.lru_cache(maxsize=4096)
def _tiles(tiles, active):
    kept, _, pairs = _among(_structure(tiles.operands, tiles.steps), active)
    return tuple(kept), pairs


def tiles_structure(tiles, active):
    """Of an array program, for each of its operands whether it is active: the operands that matter, and pairs."""
    return _tiles(tiles, active)


def call_structure(primitive, args, kwargs, argnums, results, arguments):
    """For each active argument of a primitive one link to each result; and by which two arguments it is curved."""
    declared = None
    if primitive.pattern is not None:
        declared = primitive.pattern(args, kwargs, argnums, results)
    links = []
    for k, shape in enumerate(arguments):
        row = [DENSE] * len(results) if declared is None or declared[k] is None else declared[k]
        row = row if isinstance(row, list) else [row] * len(results)
        links.append([None if to is None else link.between(shape, to) for link, to in zip(row, results)])
    # Rules that read no value are those of a linear map.
    if not (primitive.keep_args or primitive.keep_out):
        return links, []
    linear = (0, 1) if primitive.product else primitive.linear
    return links, [(a, b) for a, k in enumerate(argnums) for b in range(len(links)) if a != b or k not in linear]
