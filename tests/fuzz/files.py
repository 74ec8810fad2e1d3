# SPDX-License-Identifier: Apache-2.0
"""Tape files with something changed: bytes, or what they say, with checksums that are right again.

Whatever a file says, loading it either raises TapeFormatError or gives a tape that passes its own check and can be
swept without harm. `python -m tests.fuzz.files --count 100000 --seed S` changes so many; in a build with sanitizers a
read or a write outside of memory ends it.
"""

import argparse
import contextlib
import json
import random
import struct
import tempfile
import warnings
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse
from numpy.lib.array_utils import byte_bounds

import codipy
from codipy.data.buffer import Buffer
from codipy.errors import TapeError, TapeFormatError, UndifferentiableError
from codipy.files.container import _PREAMBLE, MAGIC, VERSION, aligned
from codipy.numpy.registry import PRIMITIVES
from codipy.tape.contents.dissect import contents_of
from tests.strategies import STRATEGIES

MOST = 1 << 16  # identifiers that a changed tape may have to be swept: else it takes time, and no harm is done
NUMBERS = [0, 1, -1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 255, 256, 1000, 2**15, 2**31 - 2, 2**31 - 1, 2**31, 2**32, 2**40,
           2**61, 2**62, 2**63, 2**64, -2, -8, -(2**31), -(2**62), 10**30]  # fmt: skip
OTHERS = [None, True, False, "", "text", [], {}, 1.5, [1], [[]], "7ff8000000000000", ["tuple"], ["float", "x"], "<f8"]


def recorded(strategy):
    """Every kind of record, and of argument."""
    tape = codipy.Tape(strategy, chunk_size=4)
    with tape:
        a, x = tape.register_input(0.7), tape.register_input(np.array([0.1, 0.4, 0.6, 0.9]))
        m = tape.register_input(np.eye(4) * 3 + np.arange(16.0).reshape(4, 4) / 10)
        s = 0.0
        for i in range(6):
            a = np.sin(x[i % 4]) * a + a * a * 0.1
            s = s + a
        h = tape.push_statement(2.0, [a, s], [0.5, 2.0])
        y = np.exp(x * 2.0) * a + np.where(x > 0.5, x, 2 * x) + np.clip(x, 0.2, 0.7)
        z = tape.register_output(m @ x)
        w = np.concatenate([y, z, np.ones(3)])
        middle = tape.position()
        w[2:4] = w[3:5] * s
        r = w.reshape(11, 1) * y
        u = np.linalg.solve(m, y)[0] + np.cumsum(m, axis=1)[:, ::-2].sum() + np.einsum("ij,j->", m, x)
        n = scipy.sparse.csr_array(np.eye(4)[:3] + np.eye(4, k=1)[:3]) @ y
        n = n[0] + (x @ scipy.sparse.coo_matrix(np.eye(4)[:, :2])).sum() + codipy.preaccumulate(_outside)(x)[0]
        tape.register_output(n + r.sum() + (r.mean(axis=0) * z).sum() + u + w[::-2].sum() + np.sort(x)[1:].sum() + h)
    return tape, [middle]


def _outside(x):
    return np.sin(x * x) @ x * x


def contents(strategy, folder):
    """Header and arrays of a file, as they are."""
    path = Path(folder, f"{strategy}.tape")
    tape, positions = recorded(strategy)
    tape.save(path, positions=positions)
    return path.read_bytes()


def parts(content):
    """The header of a file, and the bytes behind it."""
    _, _, _, length, _, _ = _PREAMBLE.unpack(content[: _PREAMBLE.size])
    text = content[_PREAMBLE.size : _PREAMBLE.size + length]
    return json.loads(text), content[aligned(_PREAMBLE.size + length) :]


def whole(header, data):
    """A file of them, whose checksums are right."""
    for row in header.get("arrays", []) if type(header.get("arrays")) is list else []:
        try:
            kind, offset, count, _ = row
            row[3] = zlib.crc32(data[offset : offset + count * np.dtype(kind).itemsize])
        except (TypeError, ValueError, OverflowError, struct.error):
            pass  # what is changed is no row any more
    text = json.dumps(header).encode()
    begin = aligned(_PREAMBLE.size + len(text))
    fields = MAGIC, VERSION, zlib.crc32(text), len(text), begin + len(data)
    preamble = _PREAMBLE.pack(*fields, zlib.crc32(_PREAMBLE.pack(*fields, 0)))
    return (preamble + text).ljust(begin, b"\0") + data


def places(tree):
    """Every (container, key) of a tree of lists and dicts."""
    found = []
    waiting = [tree]
    while waiting:
        inner = waiting.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        for key in keys:
            found.append((inner, key))
            if isinstance(inner[key], (dict, list)):
                waiting.append(inner[key])
    return found


def changed(content, rng):
    """The file with one to three changes."""
    if rng.random() < 0.15:  # bytes, whatever they are
        content = bytearray(content)
        for _ in range(rng.randint(1, 3)):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        return bytes(content[: rng.randrange(len(content))] if rng.random() < 0.2 else content)
    header, data = parts(content)
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.3:  # of streams and other arrays
            kind, offset, count, _ = rng.choice(header["arrays"])
            if type(offset) is int and type(count) is int and 0 < count < len(data) > offset >= 0:
                size = np.dtype("<i4" if kind == "<i4" else "u1").itemsize
                at = offset + size * rng.randrange(count)
                value = rng.choice([n for n in NUMBERS if abs(n) < 2**31]) if size == 4 else rng.randrange(256)
                data[at : at + size] = struct.pack("<i" if size == 4 else "<B", value)
            continue
        if rng.random() < 0.1:
            widen(header, rng)
            continue
        if rng.random() < 0.1 and header.get("primitives"):
            row = rng.choice(header["primitives"])
            if isinstance(row, list) and len(row) == 3:
                row[1] = rng.choice(list(PRIMITIVES))
            continue
        among = places({name: those for name, those in header.items() if name != "arrays" or rng.random() < 0.2})
        where, key = rng.choice(among)
        change(where, key, rng)
        if not isinstance(header.get("arrays"), list) or not all(
            isinstance(r, list) and len(r) == 4 for r in header["arrays"]
        ):
            break
    return whole(header, bytes(data))


FAR = [2**31, 2**33, 2**40, 2**58, 2**60, 2**61, 2**61 + 1, 2**62 - 1, -(2**33), -(2**60), -(2**61)]


def widen(header, rng):
    """Strides and a shape of one array that a call keeps, for which a comparison that overflows has room."""
    arrays = [form for form, _ in places(header.get("records", [])) if form[:1] in (["array"], ["values"])]
    if arrays:
        form = rng.choice(arrays)
        shape, strides = form[-4:-2] if form[0] == "array" else form[-2:]
        if isinstance(strides, list) and strides:
            strides[rng.randrange(len(strides))] = rng.choice(FAR)
        if isinstance(shape, list) and shape and rng.random() < 0.3:
            shape[rng.randrange(len(shape))] = rng.choice([2, 3, 2**31 + 1, 2**34 + 1])


def change(where, key, rng):
    """One thing of a tree: another number, another kind, one less, one more, or the same as elsewhere."""
    old = where[key]
    if type(old) is int and rng.random() < 0.9:
        where[key] = rng.choice([old + 1, old - 1, -old, 2 * old, old + rng.randint(-20, 20), rng.choice(NUMBERS)])
    elif isinstance(old, str) and len(old) == 16 and rng.random() < 0.9:
        where[key] = struct.pack(">d", rng.choice([0.0, -1.0, 1e308, float("inf"), float("nan"), 3.5])).hex()
    elif isinstance(old, list) and old and rng.random() < 0.7:
        i = rng.randrange(len(old))
        rng.choice([lambda: old.pop(i), lambda: old.insert(i, old[i]), lambda: old.reverse()])()
    elif isinstance(where, list) and rng.random() < 0.5:
        where[key] = where[rng.randrange(len(where))]
    elif isinstance(where, dict) and rng.random() < 0.2:
        del where[key]
    else:
        where[key] = rng.choice([*OTHERS, *NUMBERS])


def harmless(path):
    """Load a file and, if that works, sweep the tape in every way; whether it was loaded. Anything else raises."""
    try:
        tape = codipy.load_tape(path)
    except TapeFormatError:
        return False
    tape.check()
    for step in contents_of(tape).steps:
        demand_inside([vars(step).get(name) for name in ("args", "kwargs", "out")])
    if tape.identifiers > MOST:
        return True
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for sweep in (_reverse, _forward, _wide, _parts, _primal, _reverse, _shown, _optimized, _again):
            with contextlib.suppress(RULES):  # what rules of primitives say of values that contradict one another
                sweep(tape)
    return True


# TapeError: a replay that is refused, say. Numbers without an inverse or a derivative may come with any replay.
RULES = (TapeError, TapeFormatError, UndifferentiableError, np.linalg.LinAlgError)


def demand_inside(tree):
    """That arrays are in the memory of the file, before a sweep reads them: what is outside may be somebody's."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for item in tree:
            demand_inside(item)
    elif isinstance(tree, np.ndarray) and tree.size:
        memory = tree
        while isinstance(memory.base, np.ndarray):
            memory = memory.base
        (first, end), (lowest, highest) = byte_bounds(memory), byte_bounds(tree)
        if type(memory.base) is Buffer:
            first, end = memory.base.address, memory.base.address + 8 * memory.base.size
        assert first <= lowest <= highest <= end, "an array is outside of its memory"


def _reverse(tape):
    tape.clear_adjoints()
    for y in tape.outputs:
        if y.is_active if isinstance(y, codipy.Array) else True:
            y.gradient = np.ones(np.shape(y.value))[()] if np.ndim(y.value) else 1.0
    tape.evaluate()
    return [x.gradient for x in tape.inputs]


def _forward(tape):
    tape.clear_adjoints()
    for x in tape.inputs:
        x.gradient = np.ones(np.shape(x.value)) if np.ndim(x.value) else 1.0
    tape.evaluate_forward()
    return [y.gradient for y in tape.outputs]


def _wide(tape):
    adjoints = tape.new_adjoints(width=5)
    for y in tape.outputs:
        adjoints[y] = np.ones((*np.shape(y.value), 5))
    tape.evaluate(adjoints=adjoints)
    tape.evaluate_forward(adjoints=adjoints)


def _parts(tape):
    tape.clear_adjoints()
    for place in tape.positions:
        tape.evaluate(end=place)
        tape.evaluate(start=place)
        tape.evaluate_forward(place)


def _primal(tape):
    for x in tape.inputs:
        tape.set_primal(x, np.full(np.shape(x.value), 0.3) if np.ndim(x.value) else 0.3)
    tape.evaluate_primal()
    for place in tape.positions:
        tape.evaluate_primal(end=place)
    tape.evaluate_primal()
    return [tape.get_primal(y) for y in (*tape.outputs, *tape.inputs)]


def _shown(tape):
    tape.dump()
    tape.to_graphviz()


def _optimized(tape):
    if tape.outputs:
        found = tape.optimize().tape
        found.check()
        _reverse(found)


def _again(tape):
    with tempfile.TemporaryDirectory() as folder:
        tape.save(Path(folder, "again.tape"))
        codipy.load_tape(Path(folder, "again.tape")).check()
    tape.statistics()
    tape.reset(tape.positions[0]) if tape.positions else tape.reset()
    tape.reset_hard()


def run(count, seed, folder):
    """How many of `count` changed files were loaded. The one that does harm stays in the folder."""
    originals = [contents(strategy, folder) for strategy in STRATEGIES]
    loaded = 0
    path = Path(folder, "changed.tape")
    for k in range(count):
        rng = random.Random(f"{seed}:{k}")
        content = changed(rng.choice(originals), rng)
        path.write_bytes(content)
        try:
            loaded += harmless(path)
        except BaseException:
            path.rename(path.with_name(f"harm_{seed}_{k}.tape"))
            raise
    return loaded


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", default="0")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        loaded = run(asked.count, asked.seed, folder)
    print(f"{asked.count} changed files: {asked.count - loaded} refused, {loaded} loaded and swept")


if __name__ == "__main__":
    main()
