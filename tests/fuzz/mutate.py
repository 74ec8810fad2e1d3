# SPDX-License-Identifier: Apache-2.0
"""Puts mistakes back, one by one, and lets random programs find them: `python -m tests.fuzz.mutate [NAME ...]`.

Each is a line or two, applied to a copy of the tree under build/ and rebuilt there, which takes half a minute; so no
test of the suite runs this. Afterwards the copy has the build of before, file by file: nothing is built to take a
mistake back. A mistake that the programs do not find is printed, and the exit status is 1. Two are not
here, since no program can see them: inputs are registered before anything else, and what reads a part changes no
storage.
"""

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPY = ROOT / "build" / "mutants"
PROGRAMS = 3000


@dataclass(frozen=True)
class Mistake:
    """Texts of one file that are replaced, each found once, and who should find that."""

    file: str
    changes: tuple  # (right, wrong)
    options: tuple = ()  # of the random programs
    tests: str = ""  # a file of the suite in their place, for what is no part of a program


def one(file, right, wrong, *options, tests=""):
    return Mistake(f"codipy/{file}", ((right, wrong),), options, tests)


MISTAKES = {
    # Identifiers and values that somebody else holds still
    "an element of a block is not lent": one(
        "active/storage/block.pyx", "            owner.lent = True\n", "            pass\n"
    ),
    "an element of a block is not lent, and the checks of derivatives do not tell": one(
        "active/storage/block.pyx",
        "            owner.lent = True\n",
        "            pass\n",
        tests="tests/test_testing.py",
    ),
    "the checks of derivatives leave out what drivers record with": one(
        "tape/strategies/settings.py",
        "        return choices\n",
        "        return [choice for choice in choices if choice != 'auto']\n",
        tests="tests/test_testing.py",
    ),
    "codipy.compare leaves out what drivers record with": one(
        "tape/strategies/settings.py",
        "        return choices\n",
        "        return [choice for choice in choices if choice != 'auto']\n",
        tests="tests/tools/test_compare.py",
    ),
    "lent blocks serve again": one("tape/base.pyx", "elif self.recycle and not lent and", "elif self.recycle and"),
    "shared values are overwritten": one(
        "active/storage/storage.pyx", "        if owns_buffer(self):\n", "        if True:\n"
    ),
    "values that an expression reads are overwritten as a whole": one(
        "active/arrays/assign.pyx", "copied = not owns_buffer(storage)      #", "copied = False      #"
    ),
    "shared identifiers are overwritten": one(
        "active/arrays/renewal.pyx", "cdef bint fresh = not in_place,", "cdef bint fresh = False,"
    ),
    "identifiers of a part are overwritten while others read them": one(
        "active/arrays/assign.pyx", "    return Py_REFCNT(block) == 1 + readers\n", "    return True\n"
    ),
    "a part's copy outlives a write": Mistake(
        "codipy/active/storage/storage.pyx",
        (
            ("        self.overwritten = True\n        self.part = None\n", "        self.overwritten = True\n"),
            ("        cdef Buffer old, new\n        self.part = None\n", "        cdef Buffer old, new\n"),
        ),
    ),
    "an element of a mixed storage is not counted": one(
        "active/storage/storage.pyx",
        "        if identifier and tape.recorder.reuse:\n",
        "        if False:\n",
    ),
    "a plain array is not compared with its copy": one(
        "active/arrays/constants.pyx",
        "        if same_bits(values, doubles_of(copy)):\n",
        "        if True:\n",
        "--only=from_outside",
    ),
    # Aliasing, layout, flags
    "an index array reads what it has written": one(
        "active/arrays/views.pyx",
        "        for i in range(n):\n            storage.buffer.data[places[i]] = numbers[i]\n",
        "            storage.buffer.data[places[i]] = numbers[i]\n",
    ),
    "rows over themselves are written at once": one(
        "active/arrays/assign.pyx",
        "        return assign(target, in_turn(target, value))\n",
        "        pass\n",
        tests="tests/active/test_rows_over_themselves.py",
    ),
    "elements of a result that are one in memory have one adjoint": one(
        "active/arrays/packing.pyx",
        "    if may_meet(shape, strides):\n",
        "    if False:\n",
        tests="tests/numpy/test_strided_results.py",
    ),
    "results with gaps lose their values": one(
        "active/arrays/packing.pyx",
        "    np.lib.stride_tricks.as_strided(memory[first:], shape, strides)[...] = values\n",
        "",
        tests="tests/numpy/test_strided_results.py",
    ),
    "a product may be written over its operand": one(
        "numpy/ufuncs.py",
        "    if is_larger and any(np.may_share_memory(",
        "    if False and any(np.may_share_memory(",
        tests="tests/numpy/test_out_shapes.py",
    ),
    "flags that are set are forgotten": one(
        "active/array_type.pyx", "            self.readonly = not write\n", "            pass\n", "--only=laid_out"
    ),
    "ravel is always a copy": one(
        "active/array_type.pyx",
        'return as_view(self, "ravel", (order,), {})',
        'return as_view(self.copy(), "ravel", (order,), {})',
    ),
    "what NumPy gives a view of is a copy": one(
        "numpy/views.py",
        "            view = shown_as(array, plain, leaf)\n",
        "            view = shown_as(array, plain, leaf).copy()\n",
    ),
    "a writable view of what may not be written to": one(
        "active/arrays/plain.pyx",
        "    result.readonly = not cnp.PyArray_ISWRITEABLE(shown)\n",
        "    result.readonly = False\n",
    ),
    "a slice forgets that it may not be written to": one(
        "active/core/base_array.pyx", "    new.readonly = a.readonly\n", "    new.readonly = False\n"
    ),
    "order='F' is dropped": one(
        "numpy/allocation.py",
        '    order = "C" if values.flags.c_contiguous else "F" if values.flags.f_contiguous else "K"\n',
        '    order = "C"\n',
    ),
    "require('O') copies what owns its data": one(
        "numpy/allocation.py",
        "requirements or not holds_movable(a):\n",
        "requirements or True:\n",
        "--only=laid_out",
    ),
    "pieces of what lies in another order are lost": one(
        "numpy/movement.py",
        "            result[condition], ids[condition] = ",
        "            result.reshape(-1)[where.reshape(-1)], ids[condition] = ",
        tests="tests/numpy/test_layouts_of_arguments.py",
    ),
    "identifiers lie in another order than values": one(
        "numpy/arguments.py",
        "    if values.flags.c_contiguous:\n        return numbers\n",
        "    return numbers\n",
        tests="tests/numpy/test_order_of_elements.py",
    ),
    "an argument without axes is a number": one(
        "active/tape.pyx",
        "isinstance(x, ndarray) and x.dtype.kind",
        "isinstance(x, ndarray) and x.ndim and x.dtype.kind",
        "--only=without_axes",
        "--only=helper",
    ),
    # Bits: NumPy's loops depend on how operands lie
    "a plain matrix is multiplied as its copy lies": one(
        "active/arrays/calls.pyx",
        "                kept = in_double(frozen_copy(r, x))\n",
        "                x = kept = in_double(frozen_copy(r, x)).copy()\n",
    ),
    "the copy of a plain array beside an Array lies in another order": one(
        "active/arrays/constants.pyx", "    if values.flags.c_contiguous:\n", "    if True:\n"
    ),
    "results lie in C order": one("active/arrays/elementwise.pyx", "    if shape.ndim < 2:\n", "    if True:\n"),
    "copies that share their values are multiplied as views": one(
        "active/arrays/calls.pyx",
        "            if is_apart(operands, k) and primitive.name in PRODUCTS:\n",
        "            if False:\n",
        tests="tests/active/test_layout_bits.py",
    ),
    # Numbers as keys, random numbers, contexts
    "active numbers are keys by identity": one(
        "active/scalar/real.pyx",
        "        if self.epoch and not may_leave(self.epoch):\n            raise ActiveError(",
        "        if self.epoch and not may_leave(self.epoch):\n"
        "            return id(self)\n            raise ActiveError(",
    ),
    "active numbers are keys by value": one(
        "active/scalar/real.pyx",
        "        if self.epoch and not may_leave(self.epoch):\n            raise ActiveError(",
        "        if False:\n            raise ActiveError(",
        tests="tests/active/test_kinds.py",
    ),
    "shuffled rows are swapped as views": one(
        "numpy/draws.py",
        "    x[...] = np.take(x, places, axis)\n",
        "    for k in range(0 if axis else len(x)):\n        x[k], x[places[k]] = x[places[k]], x[k]\n",
        "--only=shuffled",
    ),
    "a range is drawn in float32": one(
        "numpy/draws.py", "converted(x, np.float64) if type_of(x) is np.float32 else x", "x", "--single"
    ),
    "a draw does not move with its location": one(
        "numpy/draws.py",
        "    return loc + scale * rng.standard_normal(shape)\n",
        "    return getattr(loc, 'value', loc) + scale * rng.standard_normal(shape)\n",
    ),
    "expressions wait while NumPy raises": one(
        "active/arrays/floating.pyx", "    return patient and began != NULL and", "    return began != NULL and"
    ),
    "expressions wait while warnings are listened to": one(
        "active/arrays/floating.pyx", "not (<Surroundings>began).strict and (<Surroundings>began).hold()", "True"
    ),
    # Kinds of numbers
    "elements of arrays are Python's floats": one(
        "active/arrays/elements.pyx", "    kind = SINGLE if storage.single else DOUBLE\n", "    kind = 0\n"
    ),
    "elements of float32 arrays are doubles": one(
        "active/arrays/elements.pyx",
        "    kind = SINGLE if storage.single else DOUBLE\n",
        "    kind = DOUBLE\n",
        "--single",
    ),
    "expressions of float32 are not rounded": one(
        "active/arrays/elementwise.pyx", "        single = ROUND_STEPS\n", "        single = ROUND_NONE\n", "--single"
    ),
    "elements that are written are not rounded": one(
        "active/arrays/elements.pyx", "= <float>number if storage.single else number", "= number", "--single"
    ),
    "sums of floats are compensated where Python's are not, or not where they are": one(
        "tools/rebinding/sums.py",
        "COMPENSATED = builtins.sum([1e16, 1.0, -1e16]) == 1.0\n",
        "COMPENSATED = builtins.sum([1e16, 1.0, -1e16]) != 1.0\n",
        "--only=built_in",
    ),
    "what item() gives stands for a number of NumPy's": one(
        "active/scalar/methods.py",
        "    self.value.item(*args)  # refuses what NumPy does\n    return converted(self, float)\n",
        "    self.value.item(*args)  # refuses what NumPy does\n    return self\n",
        "--only=types",
    ),
    # What decides which branch is taken
    "singledispatch takes the default": one(
        "tools/rebinding/dispatching.py",
        "        return made.dispatch(kind_of(args[0]))(*args, **kwargs)\n",
        "        return made(*args, **kwargs)\n",
        tests="tests/tools/test_rebind_protocols.py",
    ),
    "caches are keyed by value": one(
        "tools/rebinding/caches.py",
        "        return standing_for(self.cached(*map(_as_key, args), **kwargs))\n",
        "        return self.cached(*args, **kwargs)\n",
        tests="tests/tools/test_caches.py",
    ),
    "cells of closures are not looked at again": one(
        "tools/rebinding/watch.pyx",
        "            if value != <PyObject*>self.raws[i]:\n",
        "            if False:\n",
        tests="tests/tools/test_rebind_closures.py",
    ),
    "variables of earlier recordings are this one's": one(
        "tape/base.pyx",
        "        if epoch == self.recorder.epoch:\n            return True\n        i =",
        "        if True:\n            return True\n        i =",
        tests="tests/active/test_earlier.py",
    ),
    # Sweeps
    "what was not selected gets inf * 0": one(
        "tape/strategies/jacobian.pyx", "            if bar != 0.0:  ", "            if True:  "
    ),
    "a partial of zero propagates inf * 0": Mistake(
        "codipy/programs/steps.pxd",
        (
            ("        if bar == 0.0 or bent != NULL and not", "        if bent != NULL and not"),
            ("            if (bent == NULL or bent[i].flows >> k & 1) and partials[k] != 0.0:\n",
             "            if bent == NULL or bent[i].flows >> k & 1:\n"),
        ),
        ("--only=guarded", "--strategy=primal"),
    ),
    "a choice passes on to what it left": one(
        "tape/records/choice.pyx", "        if c.chosen[i] == k:\n", "        if True:\n"
    ),
    "a tangent reaches what was not selected": one(
        "tape/strategies/jacobian.pyx", "                if u != 0.0:  ", "                if True:  "
    ),
    "consumed adjoints are read as zeros": one(
        "tape/consumed.pyx",
        "        if not self.misses(epoch, element, shared) or",
        "        if True or",
        tests="tests/tape/test_consumed.py",
    ),
    "add.at adds once where a place comes twice": one(
        "numpy/ufunc_methods.py", "    turns[order] = np.arange(places.size) - firsts\n", "    turns[order] = 0\n"
    ),
    # Functions whose slopes are a matter of convention
    "nextafter has no slope": one(
        "numpy/ufuncs.py",
        "np.nextafter, (lambda x, y, w: np.ones(",
        "np.nextafter, (lambda x, y, w: np.zeros(",
        "--only=steps_and_signs",
    ),
    "hypot.accumulate of zeros divides zero by zero": one(
        "numpy/rules/scans.py",
        "    return np.where(w == 0, 0.0, np.where(np.isinf(w), beyond, x / w))\n",
        "    return np.where(np.isinf(w), beyond, x / w)\n",
        "--only=steps_and_signs",
    ),
    "x.hex() gives what has no derivative": one(
        "active/scalar/methods.py",
        '_OfFloat("hex", _leaving("hex"))',
        '_OfFloat("hex", lambda x: x.value.hex())',
        tests="tests/active/test_kinds.py",
    ),
    "np.diff with n=0 has a slope by what would stand at its ends": one(
        "numpy/rules/signal.py",
        "return g if part == 1 else np.zeros(np.shape((prepend, a, append)[part]))",
        "return g",
        "--only=scan",
    ),
    "quantiles have no slope by q": one(
        "numpy/rules/order.py",
        "(above - below) * places, 0.0)",
        "0.0, 0.0)",
        tests="tests/numpy/rules/test_order.py",
    ),
    # Results, and what functions find by other ways than their names
    "a result is registered before the next is computed": one(
        "tools/runs/recording.py",
        """        computed = [_computed(leaf, path, f) for path, leaf in pairs]
        self.value = plain_copy(self.result)
        self.outputs = [None if leaf is None else self.tape.register_output(leaf) for leaf in computed]
""",
        """        computed = (_computed(leaf, path, f) for path, leaf in pairs)
        self.outputs = [None if leaf is None else self.tape.register_output(leaf) for leaf in computed]
        self.value = plain_copy(self.result)
""",
    ),
    "results without elements are registered": one(
        "tools/runs/recording.py", "leaf.is_active and leaf.size:  #", "leaf.is_active:  #"
    ),
    "ufuncs take no lists": one(
        "active/arrays/listed.pyx",
        "            return converted(<Listed>self, arguments, n, names)\n",
        "            break\n",
        "--only=steps_and_signs",
    ),
    "vars(module) shows what was not rebuilt": one(
        "tools/rebinding/hooks.py",
        "        return self._view.rebinder.container(self._view.origin, always=True)\n",
        "        return self._view.origin\n",
        tests="tests/tools/test_rebind_containers.py",
    ),
    "a ufunc that a function of scipy.special calls takes no lists": one(
        "scipy/zetas.py",
        "        return _ZETA(x, q)\n",
        "        return _SP._ufuncs._zeta(x, q)\n",
        tests="tests/numpy/test_reals.py",
    ),
    # Threads, processes, memory
    "a statement of arrays takes 110 KB of stack": one(
        "programs/tiles/space.c",
        "    TileRun *run = SPACE_EXCHANGE(NULL);\n",
        "    volatile char room[110000];\n    for (size_t k = 0; k < sizeof(room); k += 512) room[k] = 0;\n"
        "    TileRun *run = SPACE_EXCHANGE(NULL);\n",
        tests="tests/active/test_small_stacks.py",
    ),
    "sweeps of threads that a fork has left behind never end": one(
        "tape/sweeps/sweep.pyx",
        "        if sweep.thread != thread:\n",
        "        if False:\n",
        tests="tests/tape/test_fork.py",
    ),
    "statistics remember every array that they count": one(
        "tape/memory/held.pyx",
        "        if buffer.walk >= 0:\n",
        "        if False:\n",
        tests="tests/tape/test_statistics_memory.py",
    ),
    "statistics leave out the objects around records": one(
        "tape/memory/held.pyx",
        "        return (<Record>item).references()\n",
        "        return []\n",
        tests="tests/tape/test_bytes_of_records.py",
    ),
    # What was rebuilt
    "what a cache holds outlives a recording": one(
        "tools/rebind.py",
        "                cache.cache_clear()\n",
        "                pass\n",
        tests="tests/tools/test_rebind_state.py",
    ),
    # Derivatives of derivatives
    "identifiers that are set again are not consumed": one(
        "nested/slots.py", "                self.put(where, np.zeros(where[1]))\n", "                pass\n", "--second"
    ),
    "adjoints that somebody else has are added to in place": one(
        "nested/slots.py",
        "Array(np.zeros(self.sizes[number]) if old is None else old)     # a copy",
        "Array(np.zeros(self.sizes[number])) if type(old) is not Array else old",
        "--second",
    ),
    "a flow that is zero has no slope": one(
        "nested/program.py",
        "    if not any(x is not None and np.any(x) for x in raised):\n",
        "    if True:\n",
        tests="tests/nested/test_zero_flows.py",
    ),
    "a second partial of zero propagates inf * 0": Mistake(
        "codipy/tape/second.pyx",
        (
            ("            if flow[j] != 0.0:\n", "            if True:\n"),
            (" and scalar.steps[i].partials[k] != 0.0:\n", ":\n"),
            ("            if partial != 0.0 and (bar != 0.0 or partial - partial == 0.0):\n", "            if True:\n"),
        ),
        ("--second", "--only=guarded_number"),
    ),
    "partials of zero between numbers pass on infinite flows in gradients of gradients": one(
        "nested/expressions.py",
        "{self._of_numbers or sifts}",
        "{sifts}",
        "--second",
        "--only=guarded_number",
    ),
    "what is lent is not given back": one(
        "active/recordings/lending.pyx",
        "        x.epoch, x.made, x.identifier = self.epoch, self.made, self.identifier\n",
        "",
        tests="tests/nested/test_nested.py",
    ),
    "operands are read when the sweep comes": one(
        "nested/slots.py",
        "        return found.copy() if self.firsts[number] in self.rewritten else found\n",
        "        return found\n",
        "--second",
    ),
    # Tangents that are computed at once
    "an input that was read is seeded": one(
        "active/scalar/expression.pyx",
        "        if r.carries:\n            x.flags |= MERGED\n",
        "",
        tests="tests/tape/test_forward.py",
    ),
    # What functions have that solvers call
    "solvers' functions may write to what they are handed": one(
        "implicit/returned.py",
        "        if x.tobytes() != before.tobytes():\n",
        "        if False:\n",
        tests="tests/fuzz/test_solved.py",
    ),
    "the last write to what a solver has is not shown": one(
        "implicit/returned.py",
        "            seen[...] = plain(owner)\n            if not",
        "            seen[...] = plain(owner) if is_written_again else seen\n            if not",
        tests="tests/implicit/test_returned.py",
    ),
    "what a solver handed over and gets back is taken for an array that is filled": one(
        "implicit/returned.py",
        "if type(found) is np.ndarray and id(_memory_of(found)) in given:",
        "if False:",
        tests="tests/implicit/test_returned.py",
    ),
    "a step that ends elsewhere is taken": one(
        "implicit/steps.py",
        "        raise ActiveError(_OTHER)\n\n\nclass _Polynomial",
        "        pass\n\n\nclass _Polynomial",
        tests="tests/implicit/test_returned.py",
    ),
}


def misplaced(mistake):
    """What of a mistake's texts is not found once in its file, as a sentence; "" where it can be applied."""
    path = ROOT / mistake.file
    text = path.read_text(encoding="utf-8")
    counts = {right: text.count(right) for right, _ in mistake.changes}
    return "; ".join(f"{mistake.file} has {n} times {right!r}" for right, n in counts.items() if n != 1)


def copy_tree():
    """The tree as it is built; what the build left too, so that only what a mistake touches is built again."""
    shutil.rmtree(COPY, ignore_errors=True)
    for folder in ("codipy", "tests", "build/inplace", "build/c", "build/generated"):
        shutil.copytree(ROOT / folder, COPY / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "build" / "settings", COPY / "build")
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, COPY / path.name)


def run(*command):
    """Standard output and exit status of a Python in the copy."""
    result = subprocess.run(
        [sys.executable, *command], cwd=COPY, capture_output=True, text=True, check=False, env=environment()
    )
    return result.returncode, result.stdout + result.stderr


def environment():
    import os

    return {**os.environ, "PYTHONPATH": str(COPY)}


def build():
    status, said = run("setup.py", "-q", "build_ext", "-i")
    if status:
        raise RuntimeError(said[-2000:])


def take_back(began):
    """Sources and what was built of them as they were before that time."""
    for path in COPY.rglob("*"):
        if path.is_file() and path.stat().st_mtime >= began and "__pycache__" not in path.parts:
            original = ROOT / path.relative_to(COPY)
            shutil.copy2(original, path) if original.is_file() else path.unlink()


def look_for(name):
    """Apply, build, run, take back: what the random programs said, None if they found nothing."""
    mistake = MISTAKES[name]
    path = COPY / mistake.file
    right = path.read_text(encoding="utf-8")
    wrong = right
    for before, after in mistake.changes:
        wrong = wrong.replace(before, after)
    began = time.time()
    path.write_text(wrong, encoding="utf-8")
    try:
        if path.suffix != ".py":
            build()
        if mistake.tests:
            status, said = run("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mistake.tests)
        else:
            options = ("--count", str(PROGRAMS), "--seed", "mutants", "--most", "1", *mistake.options)
            status, said = run("-m", "tests.fuzz", *options)
    finally:
        take_back(began)
    return f"{said}exit status {status}" if status else None  # a crash may say nothing


def main(names):
    if unknown := [name for name in names if name not in MISTAKES]:
        print("no such mistakes:", *unknown, "known are:", *MISTAKES, sep="\n    ")
        return 2
    for name in names or MISTAKES:
        if misplaced(MISTAKES[name]):
            raise ValueError(f"{name}: {misplaced(MISTAKES[name])}")
    copy_tree()
    missed = []
    for name in names or MISTAKES:
        said = look_for(name)
        print(f"{'found ' if said else 'MISSED'} {name}", flush=True)
        if said:
            print("    " + said.rstrip().replace("\n", "\n    ")[-900:], flush=True)
        else:
            missed.append(name)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
