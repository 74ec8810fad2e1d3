# SPDX-License-Identifier: Apache-2.0
"""Files that were changed, by chance or by somebody, are refused or do no harm."""

import json
import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codipy
from codipy.errors import TapeFormatError
from tests.fuzz.files import changed, contents, demand_inside, harmless, parts, run, whole
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


def test_a_sparse_matrix_that_does_not_fit_is_refused(files):
    """Before a rule makes an array of that size."""
    path, originals = files
    header, data = parts(originals[STRATEGIES.index("primal")])
    sparse_row(header)[3][1] = 2**40
    path.write_bytes(whole(header, data))
    with pytest.raises(TapeFormatError, match="a matrix fits to what it is multiplied by, in a call of sparse matmul"):
        codipy.load_tape(path)


def cut_off(f, x, change):
    """A file of one function, changed."""
    tape = codipy.Tape("primal")
    with tape:
        tape.register_output(f(tape.register_input(x)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.tape")
        tape.save(path)
        header, data = parts(path.read_bytes())
        call = next(row for row in header["records"] if row[0] == "call")
        change(header, call)
        path.write_bytes(whole(header, data))
        return codipy.load_tape(path)


def backward(tape):
    tape.outputs[0].gradient = np.ones(np.shape(tape.outputs[0].value))[()]
    tape.evaluate()


X = np.linspace(0.1, 0.9, 9)


def _other(header, call):
    header["primitives"][call[4]][1] = "bincount"


def _far(header, call):
    next(form for form in call[5][1:] if form[0] == "array")[3][0] = 2**61


def _many(header, call):
    call[6][1:] = [["n", 2**31]]


def _axis(header, call):
    call[6][1:] = [["axis", 2**40]]


@pytest.mark.parametrize(
    ("f", "change", "what"),
    [
        (lambda x: np.cumsum(x), _axis, "record 1, a call of cumsum, has arguments that its rules cannot read"),
        (lambda x: np.outer(x, x), _other, "record 1, a call of bincount, has"),
        (lambda x: np.convolve(x, np.arange(9)), _far, "shapes and strides are within the memory"),
        (lambda x: np.fft.rfft(x).real, _many, "no more points than its result"),
    ],
)
def test_what_a_rule_cannot_read_is_said_of_the_file(f, change, what):
    """Whatever NumPy and SciPy raise, or would do."""
    with pytest.raises(TapeFormatError, match=what):
        backward(cut_off(codipy.rebind(f), X, change))


@pytest.mark.parametrize(("shape", "stride"), [([3], 2**33), ([2], 2**61), ([9], -(2**61)), ([3], 2**58), ([10], 8)])
def test_an_array_outside_of_its_memory_is_refused(shape, stride):
    """NumPy's comparison of strides with a memory overflows, and what it makes reads anywhere."""

    def change(header, call):
        form = next(form for form in call[5][1:] if form[0] == "array")
        form[2:4] = shape, [stride]

    with pytest.raises(TapeFormatError, match="inside of its memory|within the memory"):
        cut_off(lambda x: np.convolve(x, np.arange(9)), X, change)


def test_what_is_harmless_looks_for_arrays_that_are_outside():
    memory = np.zeros(4)
    demand_inside([memory[::-2], {"x": (memory[1:3],)}])
    with pytest.raises(AssertionError, match="outside of its memory"):
        demand_inside([np.ndarray((2**34 + 1,), np.float64, memory, 0, (2**30,))])


def test_arrays_whose_identifiers_two_records_took_are_refused(tmp_path):
    """Passes would have to move half of them."""
    tape = codipy.Tape("simple")
    with tape:
        x = tape.register_input(X)
        tape.register_output(np.concatenate([x[:3], x[5:]]) * 2.0)
    path = tmp_path / "a.tape"
    tape.save(path)
    header, data = parts(path.read_bytes())
    row = next(row for row in header["records"] if row[0] == "movement")
    row[4] -= 1
    path.write_bytes(whole(header, data))
    with pytest.raises(TapeFormatError, match="identifiers that one record took"):
        codipy.load_tape(path)


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
