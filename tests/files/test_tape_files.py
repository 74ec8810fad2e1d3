# SPDX-License-Identifier: Apache-2.0
"""A tape that was saved and loaded is the same tape, in another process and without the program too."""

import importlib
import os
import pkgutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import codipy
from codipy.errors import TapeError, TapeFormatError
from codipy.files.container import _PREAMBLE
from codipy.files.primitives import own
from codipy.numpy import decisions
from codipy.scipy import calls
from tests.active.recording import is_active, record
from tests.fuzz.generator import write
from tests.fuzz.judge import Rebound, quietly
from tests.strategies import VARIANTS, each_as_values, each_pair, each_strategy, new_tape
from tests.tape.test_contents import INPUTS, example
from tests.test_examples import load


def recorded(variant, chunk_size=4):
    return record(new_tape(variant, chunk_size=chunk_size), lambda x, a, m: example(x, a.sum(), m), INPUTS).tape


def bits(x):
    return np.ascontiguousarray(x).tobytes()


def sweeps(tape):
    """Bits of what sweeps over a tape give, seeded by its own variables."""
    found = []
    for k, y in enumerate(tape.outputs):
        if is_active(y):
            tape.clear_adjoints()
            y.gradient = np.linspace(0.5, 1.5 + k, max(1, np.size(y.value))).reshape(np.shape(y.value))
            quietly(tape.evaluate)
            found += [bits(x.gradient) for x in tape.inputs]
    tape.clear_adjoints()
    for x in tape.inputs:
        x.gradient = np.linspace(0.5, 1.5, np.size(x.value)).reshape(np.shape(x.value))
    quietly(tape.evaluate_forward)
    found += [bits(y.gradient) for y in tape.outputs if is_active(y)]
    adjoints = tape.new_adjoints(width=3)
    for y in tape.outputs:
        if is_active(y):
            adjoints[y] = np.broadcast_to(np.linspace(0.5, 1.5, 3), (*np.shape(y.value), 3))
    quietly(lambda: tape.evaluate(adjoints=adjoints))
    return found + [bits(adjoints[x]) for x in tape.inputs]


def values(tape):
    return [(bits(v.value), np.shape(v.value), type(v)) for v in (*tape.inputs, *tape.outputs)]


def saved(tape, path, **options):
    tape.save(path, **options)
    loaded = codipy.load_tape(path)
    loaded.check()
    assert [stream.bytes_used for stream in loaded.store.streams] == [
        stream.bytes_used for stream in tape.store.streams
    ]
    assert (loaded.statements, loaded.identifiers) == (tape.statements, tape.identifiers)
    assert values(loaded) == values(tape)
    return loaded


@each_pair()
@pytest.mark.parametrize("chunk_size", [4, None])
def test_sweeps_over_a_loaded_tape_give_the_same_bits(variant, chunk_size, tmp_path):
    tape = recorded(variant, chunk_size)
    assert sweeps(saved(tape, tmp_path / "a.tape")) == sweeps(tape)


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part, tmp_path):
    done = 0
    for k in range(part, 160, 4):
        program = write(f"files:{k}")
        try:
            tape = new_tape(VARIANTS[k % len(VARIANTS)], chunk_size=[None, 4, 7][k % 3])
            quietly(record, tape, Rebound(program), program.inputs)
        except Exception:
            continue  # programs that are refused are judged elsewhere
        assert sweeps(saved(tape, tmp_path / "a.tape")) == sweeps(tape), program.source
        done += 1
    assert done > 30


IN_ANOTHER_PROCESS = """
import sys, numpy as np, codipy
for path in sys.argv[1:]:
    tape = codipy.load_tape(path)
    tape.outputs[0].gradient = 1.0
    tape.evaluate()
    print(" ".join(np.ravel(x.gradient).tobytes().hex() for x in tape.inputs))
"""


def test_a_fresh_process_sweeps_them(tmp_path):
    paths, expected = [], []
    for k, variant in enumerate(VARIANTS):
        tape = recorded(variant)
        paths.append(str(tmp_path / f"{k}.tape"))
        tape.save(paths[-1])
        tape.outputs[0].gradient = 1.0
        tape.evaluate()
        expected.append(" ".join(np.ravel(x.gradient).tobytes().hex() for x in tape.inputs))
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS, *paths]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert found.stdout.split("\n")[:-1] == expected


KNOWN_IN_ANOTHER_PROCESS = """
import os, sys
import scipy.fft, scipy.integrate, scipy.interpolate, scipy.ndimage, scipy.signal, scipy.spatial.transform, scipy.stats
from codipy.files.primitives import own

for name in sys.stdin.read().splitlines():  # each in a process where nothing else of codipy is imported
    if not os.fork():
        os._exit(own(name) is None)
    if os.wait()[1]:
        print(name)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each name is looked up in a copy of a process")
def test_a_primitive_that_is_saved_is_known_where_nothing_was_recorded():
    # Of each module that makes primitives one is enough: it is imported for that one, and no other imports it.
    makers = ("codipy.scipy", "codipy.implicit")
    for package in map(importlib.import_module, makers):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)
    names = [name for name in (*decisions.PRIMITIVES, *calls.PRIMITIVES) if own(name) is not None]
    names = {_maker(name): name for name in names if not name.startswith("np.")}
    assert len(names) > 20
    command = [sys.executable, "-c", KNOWN_IN_ANOTHER_PROCESS]
    found = subprocess.run(command, input="\n".join(names.values()), capture_output=True, text=True, check=True,
                           cwd=Path(__file__).parents[2])  # fmt: skip
    assert found.stdout == ""


def _maker(name):
    rule = own(name).forward
    return getattr(rule, "args", [rule])[0].__module__, name.split(" ")[0].rpartition(".")[0]


def test_a_name_of_a_decision_is_given_once():
    with pytest.raises(ValueError, match="two decisions are called 'np.clip of values'"):
        decisions.decision("np.clip", np.clip)


@each_as_values
def test_a_loaded_tape_is_run_again_at_other_inputs(strategy, tmp_path):
    tape = codipy.Tape(strategy, chunk_size=4)
    with tape:
        x, m = tape.register_input(np.array([0.5, 0.7])), tape.register_input(np.eye(2) * 2.0 + 1.0)
        a = tape.register_input(0.3)
        u = np.exp(x) * a
        u[0] = a * a
        tape.register_output(np.linalg.solve(m, u).sum() + np.cumsum(m @ u)[1])
        tape.register_output(np.sin(a) * x)
    loaded = saved(tape, tmp_path / "a.tape")
    for each in (tape, loaded):
        for old, new in zip(each.inputs, ([0.1, 0.9], [[4.0, 1.0], [0.5, 3.0]], 0.6), strict=True):
            each.set_primal(old, new)
        each.evaluate_primal()
    assert [bits(loaded.get_primal(y)) for y in loaded.outputs] == [bits(tape.get_primal(y)) for y in tape.outputs]
    assert sweeps(loaded) == sweeps(tape)
    assert loaded.get_primal(loaded.outputs[1])[0] == np.sin(0.6) * 0.1
    assert sweeps(saved_again(loaded, tmp_path)) == sweeps(tape)


def saved_again(tape, tmp_path):
    tape.save(tmp_path / "b.tape")
    return codipy.load_tape(tmp_path / "b.tape")


@each_pair()
def test_positions_are_saved(variant, tmp_path):
    tape = new_tape(variant)
    with tape:
        x, a = tape.register_input(np.array([0.5, 0.7])), tape.register_input(0.3)
        b = tape.register_output(np.sin(a) * a + x[0])
        middle = tape.position()
        tape.register_output((np.exp(x) * b).sum())
    tape.save(tmp_path / "a.tape", positions=[tape.position(), middle])
    loaded = codipy.load_tape(tmp_path / "a.tape")
    found = []
    for each, place in ((tape, middle), (loaded, loaded.positions[0])):
        each.clear_adjoints()
        each.outputs[1].gradient = 1.0
        each.evaluate(end=place)
        found.append([bits(each.outputs[0].gradient), *[bits(x.gradient) for x in each.inputs]])
        each.evaluate(start=place)
        found.append([bits(x.gradient) for x in each.inputs])
        with pytest.raises(TapeError, match="consumed"):
            each.outputs[0].gradient
    assert found[:2] == found[2:]
    assert found[0][1:] != found[1]
    assert len(loaded.positions) == 2
    loaded.reset(loaded.positions[0])
    assert len(loaded.outputs) == 1


@each_strategy
def test_nothing_is_recorded_behind_a_loaded_tape(strategy, tmp_path):
    loaded = saved(recorded((strategy,)), tmp_path / "a.tape")
    with pytest.raises(TapeError, match="complete"), loaded:
        pass
    loaded.reset()
    with loaded:
        x = loaded.register_input(3.0)
        y = loaded.register_output(x * x)
    y.gradient = 1.0
    loaded.evaluate()
    assert x.gradient == 6.0
    assert loaded.positions == ()


@each_strategy
def test_statements_made_by_hand_and_elements(strategy, tmp_path):
    tape = codipy.Tape(strategy, chunk_size=4)
    with tape:
        x = tape.register_input(np.array([0.5, 0.7]))
        a = tape.register_input(np.float32(0.25))
        b = tape.push_statement(7.0, [a, x[0], x[1]], [1.0, 2.0, 3.0])
        c = tape.push_statement(7.0, [a * b] * 300, range(300))
        tape.register_output(c + b)
        tape.register_output(codipy.Array([1.0, 2.0]))
        tape.register_output(np.float32(2.0) * a)
    loaded = saved(tape, tmp_path / "a.tape")
    assert sweeps(loaded) == sweeps(tape)
    if loaded.keeps_values:
        with pytest.raises(TapeError, match="push_statement"):
            loaded.evaluate_primal()


def test_what_is_not_saved(tmp_path):
    path = tmp_path / "a.tape"
    path.write_text("before")
    with pytest.raises(TapeError, match="keeps nothing"):
        codipy.Tape("forward").save(path)
    tape = codipy.Tape("primal")
    with tape, pytest.raises(TapeError, match="while the tape records"):
        tape.save(path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


CUBE = codipy.Primitive(
    "cube", lambda x: x**3, vjp=lambda g, out, args, kwargs, argnums: [3.0 * args[0] ** 2 * g],
    jvp=lambda tangents, out, args, kwargs: 3.0 * args[0] ** 2 * tangents[0], keep_out=False)  # fmt: skip


def cubed(*more):
    from codipy.active.array import call

    tape = codipy.Tape("primal")
    with tape:
        tape.register_output(call(CUBE, (tape.register_input(np.array([1.0, 2.0])), *more)))
    return tape


def test_primitives_of_the_user_are_given_by_name(tmp_path):
    path, tape = tmp_path / "a.tape", cubed()
    with pytest.raises(TapeError, match="record 1, a call of 'cube' .* cannot be found by its name"):
        tape.save(path)
    tape.save(path, primitives=[CUBE])
    with pytest.raises(TapeFormatError, match="the primitive 'cube', version 1"):
        codipy.load_tape(path)
    with pytest.raises(TapeFormatError, match="'cube' of version 1, and here is version 2"):
        codipy.load_tape(path, primitives=[codipy.Primitive("cube", CUBE.forward, CUBE.vjp, version=2)])
    loaded = codipy.load_tape(path, primitives=[CUBE])
    assert sweeps(loaded) == sweeps(tape)
    with pytest.raises(ValueError, match="two of the primitives"):
        tape.save(path, primitives=[CUBE, CUBE])
    with pytest.raises(TypeError, match=r"codipy\.Primitive"):
        codipy.load_tape(path, primitives=["cube"])


def test_arguments_that_a_file_cannot_hold_are_named(tmp_path):
    with pytest.raises(TapeError, match=r"record 1, a call of 'cube' .*object"):
        cubed_with(object()).save(tmp_path / "a.tape", primitives=[WITH])
    everything = (
        1,
        2.5,
        1j,
        None,
        True,
        "text",
        (1, [2.0]),
        slice(1, None, 2),
        Ellipsis,
        np.dtype("f4"),
        np.float32,
        float,
        np.int16(3),
        np.float64("nan"),
        {"a": np.arange(6)[::-2]},
        np.asfortranarray(np.eye(3)),
        np.zeros((0, 2)),
        np._NoValue,
    )
    tape = cubed_with(everything)
    tape.save(tmp_path / "a.tape", primitives=[WITH])
    loaded = codipy.load_tape(tmp_path / "a.tape", primitives=[WITH])
    assert sweeps(loaded) == sweeps(tape)
    kept = SEEN[0]  # the loaded one was swept first
    assert repr(kept[:12]) == repr((*everything[:11], np.float64))
    assert kept[12].dtype == np.int16
    assert np.isnan(kept[13])
    assert kept[14]["a"].tolist() == [5, 3, 1]
    assert kept[14]["a"].strides == (-16,)
    assert kept[15].flags.f_contiguous
    assert kept[16].shape == (0, 2)
    assert kept[17] is np._NoValue


SEEN = []


def _seen(g, out, args, kwargs, argnums):
    SEEN.append(args[1])
    return [g]


WITH = codipy.Primitive("cube", lambda x, more: x * 1.0, vjp=_seen, jvp=lambda dots, out, args, kwargs: dots[0])


def cubed_with(more):
    from codipy.active.array import call

    tape = codipy.Tape("primal")
    with tape:
        tape.register_output(call(WITH, (tape.register_input(np.array([1.0, 2.0])), more)))
    return tape


@pytest.mark.parametrize("damage", ["cut", "longer", "a bit of the header", "a bit of an array", "text", "empty"])
def test_damaged_files_are_refused(damage, tmp_path):
    path = tmp_path / "a.tape"
    recorded(("primal", "statement")).save(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[-100:]
    elif damage == "longer":
        content += b"x"
    elif damage == "text":
        content[:] = b"no tape\n"
    elif damage == "empty":
        content.clear()
    else:
        content[100 if "header" in damage else len(content) - 128] ^= 1
    path.write_bytes(content)
    with pytest.raises(TapeFormatError, match=r"cannot be loaded: (it|its|array \d+)\b.*(cut|added|damaged|begin)"):
        codipy.load_tape(path)
    with pytest.raises(OSError):
        codipy.load_tape(tmp_path / "none.tape")


def test_later_versions_say_so(tmp_path):
    path = tmp_path / "a.tape"
    recorded(("primal", "statement")).save(path)
    content = bytearray(path.read_bytes())
    content[8] = 2
    path.write_bytes(content)
    with pytest.raises(TapeFormatError, match="version 2"):
        codipy.load_tape(path)


def test_files_of_version_one(capsys):
    """Written by `python -m tests.files.version_1` when that was the version; they stay as they are."""
    from tests.files import version_1

    for strategy, gradient in version_1.GRADIENTS.items():
        tape = codipy.load_tape(Path(__file__).parent / f"version_1_{strategy}.tape")
        tape.outputs[0].gradient = 1.0
        tape.evaluate()
        assert [np.ravel(x.gradient).tolist() for x in tape.inputs] == gradient


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_or_a_device_is_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="no regular file"):
        recorded(VARIANTS[0]).save(path)
    assert path.is_fifo() and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TapeFormatError, match="pipe cannot be loaded: it is no regular file but a device or a pipe"):
        codipy.load_tape(tmp_path / "pipe")
    with pytest.raises(TapeFormatError, match="it is no regular file"):
        codipy.load_tape(os.devnull)
    with pytest.raises(IsADirectoryError):
        codipy.load_tape(tmp_path)


def test_a_file_that_is_a_hole_takes_no_memory(tmp_path):
    """Its length is right and its zeros are on no disk: they were read at once."""
    path = tmp_path / "hole.tape"
    recorded(VARIANTS[0]).save(path)
    fields = list(_PREAMBLE.unpack(path.read_bytes()[: _PREAMBLE.size]))
    fields[4] = 1 << 30
    fields[5] = zlib.crc32(_PREAMBLE.pack(*fields[:5], 0))
    with open(path, "r+b") as file:
        file.write(_PREAMBLE.pack(*fields))
        try:
            file.truncate(1 << 30)
        except OSError:
            pytest.skip("the file system has no holes")
    with pytest.raises(TapeFormatError, match="its arrays follow one another"):
        codipy.load_tape(path)


def test_a_path_may_be_bytes(tmp_path):
    path = os.fsencode(tmp_path / "name.tape")
    tape = recorded(VARIANTS[0])
    tape.save(path)
    assert sweeps(codipy.load_tape(path)) == sweeps(tape)


def test_a_link_is_written_through_and_permissions_stay(tmp_path):
    private, link = tmp_path / "private.tape", tmp_path / "a.tape"
    private.write_bytes(b"")
    private.chmod(0o600)
    link.symlink_to(private.name)
    tape = recorded(VARIANTS[0])
    for path in (link, private):
        tape.save(path)
        assert link.is_symlink() and private.stat().st_mode & 0o777 == 0o600
        assert sweeps(codipy.load_tape(link)) == sweeps(tape)
    assert sorted(tmp_path.iterdir()) == [link, private]


def test_the_path_that_was_given_is_named(tmp_path):
    path = tmp_path / "none" / "x.tape"
    with pytest.raises(FileNotFoundError) as raised:
        recorded(VARIANTS[0]).save(path)
    assert raised.value.filename == str(path)


def test_no_path():
    """An integer would be an open file, which is not ours to close."""
    for wrong in (os.open(os.devnull, os.O_RDONLY), None):
        with pytest.raises(TypeError, match="path|PathLike"):
            codipy.load_tape(wrong)
        with pytest.raises(TypeError, match="path|PathLike"):
            recorded(VARIANTS[0]).save(wrong)
        if wrong is not None:
            os.close(wrong)  # it is still open


def test_strides_of_axes_that_are_never_walked_along(tmp_path):
    """NumPy has any: those of a slice by a large step."""
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(np.array([1.0, 2.0]))
        tape.register_output(np.convolve(x, np.array([3.0, 4.0])[:: 2**45]).sum())
    saved(tape, tmp_path / "a.tape")


@each_strategy
def test_a_file_that_is_cut_or_written_to_later_is_no_matter(strategy, tmp_path):
    path, tape = tmp_path / "a.tape", recorded((strategy, None))
    loaded = saved(tape, path)
    with open(path, "r+b") as file:
        file.write(b"\xff" * path.stat().st_size)
        file.truncate(10)
    assert values(loaded) == values(tape) and sweeps(loaded) == sweeps(tape)


@each_strategy
def test_a_large_file_is_mapped_and_stays_what_it_is(strategy, tmp_path, monkeypatch):
    monkeypatch.setattr("codipy.files.container.MAPPED", 1)
    monkeypatch.setattr("codipy.files.container._copied", None)
    path, tape = tmp_path / "a.tape", recorded((strategy, None))
    loaded, content = saved(tape, path), path.read_bytes()
    assert sweeps(loaded) == sweeps(tape)
    tape.save(path)  # another file in its place
    assert path.read_bytes() == content and sweeps(loaded)
    path.write_bytes(content[:-1])
    with pytest.raises(TapeFormatError, match="it was cut off"):
        codipy.load_tape(path)


CUT = """
import sys
import numpy as np, codipy
from codipy.files import container
container.MAPPED = 1
first, second = sys.argv[1:]
n = 70
matrix = np.eye(n) * n + np.random.default_rng(0).random((n, n))

def solved(matrix):
    return np.sum(np.linalg.solve(matrix, np.ones(n)))

for path, factor in ((first, 1.0), (second, 2.0)):
    tape = codipy.Tape("primal")
    with tape:
        tape.register_output(solved(tape.register_input(matrix * factor)))
    tape.save(path)
for path in (first, second):                    # the second asks whether it has the matrix of the first
    tape = codipy.load_tape(path)
    tape.outputs[0].gradient = 1.0
    tape.evaluate()
    tape = None
    open(path, "wb").close()
print(codipy.grad(solved)(matrix).shape)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is mapped cannot be cut there")
def test_a_large_file_may_be_cut_when_its_tape_is_gone(tmp_path):
    """What the process remembers of the tape's last matrix is not read in the file: the system would end it."""
    command = [sys.executable, "-c", CUT, str(tmp_path / "first.tape"), str(tmp_path / "second.tape")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "(70, 70)\n"), ran.stderr


def test_what_is_loaded_may_be_saved_over_its_own_file(tmp_path):
    path = tmp_path / "a.tape"
    tape = recorded(("auto",))
    loaded = saved(tape, path)
    loaded.save(path)
    assert sweeps(loaded) == sweeps(codipy.load_tape(path, verify=False)) == sweeps(tape)


def registered(tape, point):
    """Inputs of an example: numbers in lists, or arrays."""
    if isinstance(point, list):
        return [registered(tape, each) for each in point]
    return tape.register_input(np.array(point) if np.ndim(point) else point)


EXAMPLES = {"lynx_hare": "misfit", "burgers": "loops", "libor": "portfolio"}


@each_strategy
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, strategy, tmp_path):
    module = load(name)
    function = getattr(module, EXAMPLES[name])
    point = getattr(function, "x0", None) or module.x0
    tape = codipy.Tape(strategy)
    with tape:
        tape.register_output(codipy.rebind(function)(registered(tape, point(5) if callable(point) else point)))
    loaded = saved(tape, tmp_path / "a.tape")
    for each in (tape, loaded):
        each.outputs[0].gradient = 1.0
        each.evaluate()
    assert [x.gradient for x in loaded.inputs] == [x.gradient for x in tape.inputs]


def sparse_product(form):
    matrix = getattr(scipy.sparse, form)(scipy.sparse.random(5, 4, 0.6, random_state=1))

    def function(x):
        return np.sum((matrix @ x) ** 2) + np.sum((np.arange(8.0).reshape(2, 4) * x) @ matrix.T)

    return function


@each_strategy
@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array", "csr_matrix", "csc_matrix", "coo_matrix"])
def test_products_with_sparse_matrices(form, strategy, tmp_path):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(np.linspace(0.2, 0.8, 4))
        tape.register_output(sparse_product(form)(x))
    loaded = saved(tape, tmp_path / "a.tape")
    assert sweeps(loaded) == sweeps(tape)
    assert sweeps(saved(loaded, tmp_path / "b.tape")) == sweeps(tape)


def test_a_sparse_matrix_of_another_format_is_refused_with_what_to_write(tmp_path):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.linspace(0.2, 0.8, 4))
        tape.register_output(sparse_product("dia_array")(x))
    with pytest.raises(TapeError, match=r"record 1, a call of 'sparse matmul'.*dia_array.*matrix\.tocsr\(\)"):
        tape.save(tmp_path / "a.tape")


@each_strategy
def test_preaccumulated_functions(strategy, tmp_path):
    inner = codipy.preaccumulate(lambda x: np.sin(x * x).sum() * x)
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(np.linspace(0.2, 0.8, 4))
        tape.register_output((inner(x) * x).sum())
    loaded = saved(tape, tmp_path / "a.tape")
    assert sweeps(loaded) == sweeps(tape)
    assert sweeps(saved(loaded, tmp_path / "b.tape")) == sweeps(tape)


@each_strategy
def test_a_call_that_cannot_be_saved_is_named(strategy, tmp_path):
    matrix = scipy.sparse.csr_array(np.diag([2.0, 4.0]))

    def f(x):
        return np.sum(scipy.sparse.linalg.spsolve(matrix, x * x))

    def refused():
        tape = codipy.Tape(strategy)
        with tape:
            x = tape.register_input(np.array([1.0, 3.0]))
            tape.register_output(codipy.rebind(f)(x))
        with pytest.raises(TapeError) as caught:
            tape.save(tmp_path / "a.tape")
        assert not (tmp_path / "a.tape").exists()
        return str(caught.value)

    assert refused().startswith("record 2, a call of 'spsolve' (save() inside of `with codipy.profile():` says")
    with codipy.profile():
        line = f.__code__.co_firstlineno + 1
        assert f"'spsolve' (test_tape_files.py:{line}: `return np.sum(scipy.sparse.linalg.spsolve" in refused()
