# SPDX-License-Identifier: Apache-2.0
"""Files that were changed, by chance or by somebody, are refused or do no harm."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codipy
from codipy.errors import TapeFormatError
from tests.fuzz.files import changed, contents, harmless, parts, run, whole
from tests.strategies import STRATEGIES

FEW = settings(max_examples=100, deadline=None, database=None)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return folder / "changed.tape", [contents(strategy, folder) for strategy in STRATEGIES]


def test_changed_files(tmp_path):
    loaded = run(400, "suite", tmp_path)
    assert 20 < loaded < 200  # neither is everything refused, nor nothing


@FEW
@given(which=st.integers(0, len(STRATEGIES) - 1), at=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_bytes(files, which, at, byte):
    path, originals = files
    content = bytearray(originals[which])
    i = int(at * len(content))
    content[i] = byte
    path.write_bytes(content)
    assert harmless(path) == (content == originals[which])  # no byte is without a meaning


@FEW
@given(which=st.integers(0, len(STRATEGIES) - 1), seed=st.integers())
def test_what_they_say(files, which, seed):
    path, originals = files
    path.write_bytes(changed(originals[which], random.Random(seed)))
    harmless(path)


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TREES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    max_leaves=20,
)


@FEW
@given(header=TREES)
def test_other_headers(files, header):
    path, _ = files
    path.write_bytes(whole(header if isinstance(header, dict) else {"tape": header}, b""))
    with pytest.raises(TapeFormatError):
        codipy.load_tape(path)


def test_headers_that_are_nested_without_end(files):
    path, originals = files
    header, data = parts(originals[0])
    text = json.dumps({**header, "tape": 0}).replace('"tape": 0', '"tape": ' + "[" * 10**5 + "]" * 10**5)
    content = whole({}, data)
    path.write_bytes(content[:44] + text.encode())
    with pytest.raises(TapeFormatError):
        codipy.load_tape(path)


def sparse_row(header):
    """The form of the matrix of the first sparse product, and its arrays of indices and beginnings of lines."""
    options = next(
        row[6] for row in header["records"] if row[0] == "call" and header["primitives"][row[4]][1] == "sparse matmul"
    )
    return next(form for key, form in options[1:] if key == "matrix")


@pytest.mark.parametrize(
    ("part", "at", "value", "what"),
    [
        (5, 0, 4, "inside of a matrix"),
        (5, 0, -1, "inside of a matrix"),
        (6, 0, 1, "inside of parts"),
        (6, 1, 9, "inside of"),
        (6, 3, 100, "inside of parts"),
        (6, 2, -5, "inside of a matrix"),
    ],
)
def test_a_sparse_matrix_whose_indices_are_outside_is_refused(files, part, at, value, what):
    """The loops of SciPy would read and write there."""
    path, originals = files
    header, data = parts(originals[STRATEGIES.index("primal")])
    form = sparse_row(header)[part]
    row = header["arrays"][form[5]]
    data = bytearray(data)
    size = int(form[1][2])
    data[row[1] + at * size : row[1] + (at + 1) * size] = value.to_bytes(size, "little", signed=True)
    path.write_bytes(whole(header, bytes(data)))
    with pytest.raises(TapeFormatError, match=what):
        codipy.load_tape(path)


def test_what_a_rule_cannot_read_is_said_of_the_file(files):
    path, originals = files
    header, data = parts(originals[STRATEGIES.index("primal")])
    sparse_row(header)[3][1] += 3
    path.write_bytes(whole(header, data))
    tape = codipy.load_tape(path)
    with pytest.raises(TapeFormatError, match="a call of sparse matmul has arguments that its rules cannot read"):
        for y in tape.outputs:
            y.gradient = y.value
            tape.evaluate()


def test_the_check_of_a_call_finds_what_would_be_written_outside(files):
    """A product of matrices is added by loops of our own, which go by the values' shapes."""
    path, originals = files
    header, data = parts(originals[STRATEGIES.index("primal")])
    call = next(row for row in header["records"] if row[0] == "call" and row[9])
    slots = call[9][0]
    slots[1] = [1] * len(slots[1])
    path.write_bytes(whole(header, data))
    with pytest.raises(TapeFormatError, match="one shape"):
        codipy.load_tape(path)
