# SPDX-License-Identifier: Apache-2.0
"""A recording as a graph: a node for each statement, an array is one; edges from what it was given."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from codipy.tape.display.dump import brief, leaves, limited, named

__all__ = ["graphviz", "networkx"]

_SHAPES = {"input": "ellipse", "call": "component", "handmade": "diamond"}


class _Graph(NamedTuple):
    """Nodes are dictionaries of attributes, edges are (source, target, attributes)."""

    nodes: list
    edges: list


def _graph(tape, limit, name):
    graph = _Graph([], [])
    makers = np.full(tape.identifiers, -1, np.int64)      # by identifier, which serve again: the last one so far
    for entry in limited(tape, limit, name):
        if entry.kind == "place":      # the next one is its node
            continue
        number = len(graph.nodes)
        text = "input" if entry.kind == "input" else entry.text(leaves(entry))
        graph.nodes.append({
            "kind": entry.kind, "statement": text, "identifiers": named(entry.results),
            "shape": entry.results[0].shape if entry.results and entry.results[0] is not None else (),
            "value": entry.value if isinstance(entry.value, float) else None,
            "label": f"{named(entry.results)} = {text}"
                     + (f"\n{brief(entry.value)}" if isinstance(entry.value, float) else "")})
        for operand in entry.operands:
            if operand.slots is None:
                continue
            for maker in np.unique(makers[operand.slots.identifiers()]):
                single = isinstance(operand.jacobian, float)
                graph.edges.append((int(maker), number, {
                    "identifiers": str(operand.slots), "jacobian": operand.jacobian if single else None}))
        for slots in entry.results:
            if slots is not None:
                makers[slots.identifiers()] = number
    return graph


def networkx(tape, limit):
    """The graph; see ``Tape.to_networkx``."""
    try:
        from networkx import MultiDiGraph
    except ImportError:
        raise ImportError("to_networkx() needs networkx: pip install networkx; to_graphviz() needs nothing") from None
    graph, made = _graph(tape, limit, "to_networkx"), MultiDiGraph()
    made.add_nodes_from(enumerate(graph.nodes))
    made.add_edges_from(graph.edges)
    return made


def graphviz(tape, limit):
    """The text; see ``Tape.to_graphviz``."""
    graph = _graph(tape, limit, "to_graphviz")
    lines = [f"  n{k} [label={_quoted(node['label'])}, shape={_SHAPES.get(node['kind'], 'box')}];"
             for k, node in enumerate(graph.nodes)]
    for source, target, edge in graph.edges:
        label = f" [label={_quoted(brief(edge['jacobian']))}]" if edge["jacobian"] is not None else ""
        lines.append(f"  n{source} -> n{target}{label};")
    return "\n".join(["digraph tape {", *lines, "}"]) + "\n"


def _quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
