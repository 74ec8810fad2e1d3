# SPDX-License-Identifier: Apache-2.0
"""dump() writes every statement with what the tape keeps: expressions and values, or Jacobians; graphs have edges."""

import re

import numpy as np
import pytest

import codipy
from codipy.active.array import call
from codipy.tape.display.entries import entries, operands
from tests.strategies import AS_VALUES, STRATEGIES, VARIANTS


def scalars(x, y):
    z = x * y + 1.0
    for _ in range(2):
        z = np.sin(z) * x
    return z / y


def arrays(a, x):
    b = np.concatenate([a, a[:1]])
    b[1] = x
    c = np.array([[1.0, 2.0, 3.0, 0.5], [0.0, 1.0, -1.0, 2.0]]) @ np.exp(b)
    return (c * x).sum() + np.sort(a)[0] + a[1] * x + np.where(a > 1.0, a, x).mean()


def recorded(strategy, granularity, f, *values, chunk_size=None):
    tape = codipy.Tape(strategy, granularity, chunk_size)
    with tape:
        inputs = [tape.register_input(value) for value in values]
        output = tape.register_output(f(*inputs))
    return tape, inputs, output


def swept(tape, output, inputs):
    """The adjoints of the inputs by the entries' own Jacobians: numbers only."""
    adjoints = {output: 1.0}
    for entry in reversed(entries(tape)):
        if entry.kind == "input":
            continue
        bar = adjoints.pop(entry.results[0].first, 0.0)
        for operand in entry.operands:
            if operand.slots is not None:
                at = operand.slots.first
                adjoints[at] = adjoints.get(at, 0.0) + operand.jacobian * bar
    return [adjoints[x] for x in inputs]


@pytest.mark.parametrize("chunk_size", [4, None])
@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
def test_the_jacobians_that_entries_have_make_the_gradient(strategy, granularity, chunk_size):
    tape, inputs, output = recorded(strategy, granularity, scalars, 0.7, 1.3, chunk_size=chunk_size)
    h = 1e-30
    expected = [scalars(0.7 + 1j * h, 1.3 + 0j).imag / h, scalars(0.7 + 0j, 1.3 + 1j * h).imag / h]
    found = swept(tape, int(output.identifier), [int(x.identifier) for x in inputs])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(("strategy", "granularity"), [s for s in VARIANTS if s[0] in AS_VALUES])
def test_values_of_numbers_are_those_of_the_run(strategy, granularity):
    tape, _, output = recorded(strategy, granularity, scalars, 0.7, 1.3)
    found = entries(tape)
    values = [entry.value for entry in found]
    assert None not in values
    assert values[-1] == output.value == scalars(0.7, 1.3)
    assert np.sin(0.7 * 1.3 + 1.0) * 0.7 in values or granularity == "statement" and values[0] == 0.7


def by_hand(a, x):
    a, tape = np.sin(a), codipy.active_tape()
    partly = a[-1] * x
    made = tape.push_statement(3.0 * partly.value, [a[1], partly], [0.0, 3.0])
    return made * a[-2] + np.sin(made)


@pytest.mark.parametrize(("strategy", "granularity"), [s for s in VARIANTS if s[0] in AS_VALUES])
def test_values_beside_elements_of_arrays_and_what_is_made_by_hand(strategy, granularity):
    """Elements have no value by identifier where a pass has taken out what stood beyond: sanitizers see it read."""
    tape, inputs, output = recorded(strategy, granularity, by_hand, np.arange(1.0, 900.0), 0.5)
    last, before = np.sin(899.0), np.sin(898.0)
    made = 3.0 * (last * 0.5)
    kept = {last * 0.5, *([made] if strategy != "simple" else []), *([last, before] if "reuse" in strategy else [])}
    for each in (tape, tape.optimize(inputs=inputs, outputs=[output]).tape):
        values = [entry.value for entry in entries(each) if isinstance(entry.value, float)]
        assert kept <= set(values)
        assert values[-1] == output.value == made * before + np.sin(made)


@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
def test_one_line_for_each_statement_of_arrays(strategy, granularity):
    tape, _, _ = recorded(strategy, granularity, arrays, np.array([1.5, 0.5, 2.5]), 2.0)
    head, *lines = tape.dump().split("\n")
    assert strategy in head and f"{tape.statements} statements" in head
    inputs = sum(entry.kind == "input" and entry.record is None for entry in entries(tape))
    own = strategy.endswith("-reuse") or strategy == "simple"      # inputs of numbers have no statement there
    assert len(lines) == tape.statements + own * inputs
    assert sum("matmul" in line for line in lines) == 1 and sum("sort(" in line for line in lines) == 1
    if strategy.startswith("primal"):
        assert any("exp(" in line and "where" in line for line in lines)


@pytest.mark.parametrize(("strategy", "granularity"), [s for s in VARIANTS if s[0] in AS_VALUES])
@pytest.mark.parametrize("chunk_size", [4, None])
def test_operands_are_counted_as_entries_have_them(strategy, granularity, chunk_size):
    for f, values in ((scalars, (0.7, 1.3)), (arrays, (np.array([1.5, 0.5, 2.5]), 2.0))):
        tape, _, _ = recorded(strategy, granularity, f, *values, chunk_size=chunk_size)
        expected = []
        for entry in entries(tape):
            if entry.kind == "input" and entry.record is None and strategy != "primal":
                continue      # no statement there
            given = [operand.slots is None for operand in entry.operands]
            names = [chr(97 + k) for k in range(len(given))]
            is_copy = entry.kind == "statement" and entry.text(names) == "a"
            counted = entry.kind not in ("input", "element", "place") and not is_copy
            expected.append([given.count(False), given.count(True)] if counted else [0, 0])
        assert operands(tape).tolist() == expected


def test_text_of_numbers_word_by_word():
    tape, _, _ = recorded("primal", None, lambda x, y: -(x - 2.0 * y) ** 2.0 / (x + y) - np.maximum(x, y), 3.0, 0.5)
    assert tape.dump() == (
        "tape of strategy 'primal', granularity 'statement': 4 statements\n"
        "#1 = input  is 3\n"
        "#2 = input  is 0.5\n"
        "#3 = -(#1 - 2*#2)**2/(#1 + #2) - maximum(#1, #2)  is -4.14286\n"
        "#4 = #3  is -4.14286")
    tape, _, _ = recorded("jacobian", None, lambda x, y: x * y, 3.0, 0.5)
    assert tape.dump().split("\n")[3] == "#3 = 0.5*#1 + 3*#2"


def test_statements_made_by_hand_say_so():
    tape = codipy.Tape("simple")
    with tape:
        x = tape.register_input(3.0)
        tape.register_output(tape.push_statement(2.0, [x], [0.25]))
    assert "0.25*#1  (by hand)" in tape.dump()


@pytest.mark.parametrize("chunk_size", [2, None])
@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
def test_statements_of_a_profiled_recording_have_their_lines(strategy, granularity, chunk_size):
    tape = codipy.Tape(strategy, granularity, chunk_size)
    with codipy.profile():
        with tape:
            x = tape.register_input(0.5)
            a = tape.register_input(np.array([1.0, 2.0]))
            y = codipy.math.sin(x) * x
            b = a * y
            z = y * y + 1.0
            tape.register_output(np.linalg.solve(np.eye(2), b)[0] * z)
        lines = tape.dump().splitlines()[1:]
    assert tape.dump().splitlines()[1:] == [re.sub(r"  \[test_dump.*", "", line) for line in lines]
    found = [line.partition(" `")[2].rstrip("`]") for line in lines]
    there = ("a = tape.register_input(np.array([1.0, 2.0]))", "y = codipy.math.sin(x) * x", "b = a * y",
             "z = y * y + 1.0")  # fmt: skip
    assert [found.index(line) for line in there] == sorted(found.index(line) for line in there)
    solved = [line for line in lines if "linalg.solve(" in line.partition("  [test_dump")[0]]
    assert len(solved) == 1 and "np.linalg.solve(np.eye(2), b)[0] * z)`]" in solved[0]
    assert ("x = tape.register_input(0.5)" in found) == (strategy != "simple" and not strategy.endswith("reuse"))


@pytest.mark.parametrize("method", ["dump", "to_graphviz", "to_networkx"])
def test_large_tapes_and_tapes_that_keep_nothing_are_refused(method):
    if method == "to_networkx":
        pytest.importorskip("networkx")
    tape, _, _ = recorded("auto", None, scalars, 0.7, 1.3)
    call = getattr(tape, method)
    assert call(limit=tape.statements)
    with pytest.raises(codipy.errors.TapeError, match=rf"{method}\(limit={tape.statements}\) takes them all"):
        call(limit=tape.statements - 1)
    with pytest.raises(ValueError, match="limit must be a positive int"):
        call(limit=0)
    forward = codipy.Tape("forward")
    with pytest.raises(codipy.errors.TapeError, match="keeps no statements: take another strategy"):
        getattr(forward, method)()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_node_but_inputs_is_reached_from_inputs(strategy):
    tape, _, _ = recorded(strategy, None, arrays, np.array([1.5, 0.5, 2.5]), 2.0)
    text = tape.to_graphviz()
    nodes = dict(re.findall(r'(n\d+) \[label="(.*?)", shape', text))
    edges = re.findall(r"(n\d+) -> (n\d+)", text)
    reached = {name for name, label in nodes.items() if label.split("\\n")[0].endswith("= input")}
    assert len(reached) == 2
    for _ in nodes:
        reached |= {target for source, target in edges if source in reached}
    assert reached == set(nodes)


def test_graphviz_text_escapes_what_names_may_have():
    rule = codipy.Primitive(name='a"b\\', forward=lambda x: x * 2.0, vjp=lambda g, *_: [g * 2.0])
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(np.ones(2))
        tape.register_output(call(rule, [x]))
    assert r'a\"b\\(' in tape.to_graphviz()


def test_networkx_has_the_same_graph():
    networkx = pytest.importorskip("networkx")
    tape, _, _ = recorded("jacobian", None, scalars, 0.7, 1.3)
    graph = tape.to_networkx()
    assert networkx.is_directed_acyclic_graph(graph)
    assert graph.number_of_nodes() == len(entries(tape))
    first = next(edge for edge in graph.edges(data=True) if edge[0] == 0)
    assert isinstance(first[2]["jacobian"], float)
    assert graph.nodes[0]["kind"] == "input"


def test_without_networkx_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    tape, _, _ = recorded("jacobian", None, scalars, 0.7, 1.3)
    with pytest.raises(ImportError, match="pip install networkx"):
        tape.to_networkx()
