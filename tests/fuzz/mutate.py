# SPDX-License-Identifier: Apache-2.0
"""Puts mistakes back, one by one, and lets random programs find them: `python -m tests.fuzz.mutate [NAME ...]`.

Each is a line or two, applied to a copy of the tree under build/ and rebuilt there, which takes minutes; so no test
of the suite runs this. A mistake that the programs do not find is printed, and the exit status is 1. Two are not here,
since no program can see them: inputs are registered before anything else, and what reads a part changes no storage.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPY = ROOT / "build" / "mutants"
PROGRAMS = 3000


@dataclass(frozen=True)
class Mistake:
    """Texts of one file that are replaced, each found once."""

    file: str
    changes: tuple  # (right, wrong)


MISTAKES = {
    "an element of a block is not lent": Mistake(
        "codipy/active/block.pyx", (("            owner.lent = True\n", "            pass\n"),)
    ),
    "lent blocks serve again": Mistake(
        "codipy/tape/base.pyx", (("elif self.recycle and not lent and", "elif self.recycle and"),)
    ),
    "shared values are overwritten": Mistake(
        "codipy/active/storage.pyx", (("        if owns_buffer(self):\n", "        if True:\n"),)
    ),
    "values that an expression reads are overwritten as a whole": Mistake(
        "codipy/active/assign.pyx", (("copied = not owns_buffer(storage)      #", "copied = False      #"),)
    ),
    "shared identifiers are overwritten": Mistake(
        "codipy/active/renewal.pyx", (("cdef bint fresh = not in_place,", "cdef bint fresh = False,"),)
    ),
    "a part's copy outlives a write": Mistake(
        "codipy/active/storage.pyx",
        (
            ("        self.overwritten = True\n        self.part = None\n", "        self.overwritten = True\n"),
            ("        cdef Buffer old, new\n        self.part = None\n", "        cdef Buffer old, new\n"),
        ),
    ),
    "an element of a mixed storage is not counted": Mistake(
        "codipy/active/storage.pyx", (("        if identifier and tape.recorder.reuse:\n", "        if False:\n"),)
    ),
    "an index array reads what it has written": Mistake(
        "codipy/active/views.pyx", (("    if source is storage: ", "    if False: "),)
    ),
    "ravel is always a copy": Mistake(
        "codipy/active/array_type.pyx",
        (('return as_view(self, "ravel", (order,), {})', 'return as_view(self.copy(), "ravel", (order,), {})'),),
    ),
}


def copy_tree():
    """A build of the tree as it is; extensions are copied, so that only what a mistake touches is built again."""
    shutil.rmtree(COPY, ignore_errors=True)
    for folder in ("codipy", "tests", "build/inplace"):
        shutil.copytree(ROOT / folder, COPY / folder, ignore=shutil.ignore_patterns("__pycache__"))
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


def look_for(name):
    """Apply, build, run, take back: what the random programs said, None if they found nothing."""
    mistake = MISTAKES[name]
    path = COPY / mistake.file
    right = path.read_text(encoding="utf-8")
    wrong = right
    for before, after in mistake.changes:
        if wrong.count(before) != 1:
            raise ValueError(f"{name}: {mistake.file} has {wrong.count(before)} times {before!r}")
        wrong = wrong.replace(before, after)
    path.write_text(wrong, encoding="utf-8")
    try:
        if path.suffix != ".py":
            build()
        status, said = run(
            "-m", "tests.fuzz", "--count", str(PROGRAMS), "--seed", "mutants", "--most", "1", "--inside"
        )
    finally:
        path.write_text(right, encoding="utf-8")
    return said if status else None


def main(names):
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
