# SPDX-License-Identifier: Apache-2.0
"""The house rules on source text: headers, stubs, indexes, Cython practice, linters, what is tracked."""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codipy.tape.strategies.table import STRATEGIES

pytestmark = pytest.mark.release  # the text is the same in every build

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "codipy"
FOLDERS = ["codipy", "tests", "benchmarks", "examples", "docs"]
HEADER = "SPDX-License-Identifier: Apache-2.0"


def files(*suffixes, folders=FOLDERS):
    """The hand-written files with one of these suffixes."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes]
    return [path for path in found if "results" not in path.parts] + [
        path for path in sorted(ROOT.glob("*")) if path.suffix in suffixes
    ]


CODE = files(".py", ".pyx", ".pxd", ".pyi", ".c", ".h")
CYTHON = files(".pyx", ".pxd", folders=["codipy"])


def name(path):
    return path.relative_to(ROOT).as_posix()


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_there_is_something_to_check():
    assert len(CODE) > 40
    assert len(CYTHON) > 20


def says_what_it_is_for(text):
    """Whether the licence comes first and then, after no more than a blank line, a sentence."""
    if text == []:
        return True  # an empty __init__.pxd says all there is to say
    text = text[1:] if text[0].startswith("#!") else text
    after = [line for line in text[1:4] if line.strip(" */#")]
    sentence = re.match(r"""(?:\#|/\*|\*|//|[rR]?\"\"\")\s*(\S.*)""", after[0].strip()) if after else None
    return HEADER in text[0] and sentence is not None and len(sentence.group(1).split()) >= 3


def test_header_and_purpose():
    """Line 1 is the SPDX header, line 2 one sentence on what the file is for."""
    assert CODE and [name(path) for path in CODE if not says_what_it_is_for(lines(path))] == []


@pytest.mark.parametrize(
    "text",
    [
        ["import numpy"],
        [f"# {HEADER}", "import numpy"],
        [f"# {HEADER}", '"""Streams."""'],
        ['"""A chunk of one data stream."""', f"# {HEADER}"],
    ],
)
def test_a_missing_purpose_is_caught(text):
    assert not says_what_it_is_for(text)


def test_every_extension_has_a_stub():
    missing = [name(path) for path in CYTHON if path.suffix == ".pyx" and not path.with_suffix(".pyi").exists()]
    assert missing == []
    assert (PACKAGE / "py.typed").exists()


def code_in_index(text):
    """The statements of an `__init__.py` that are neither docstring, import nor `__all__`."""
    wrong = []
    for number, node in enumerate(ast.parse(text).body):
        docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        names = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
        if not (docstring or isinstance(node, ast.Import | ast.ImportFrom) or names == ["__all__"]):
            wrong.append(ast.unparse(node))
    return wrong


def test_indexes_hold_no_code():
    indexes = sorted(PACKAGE.rglob("__init__.py"))
    assert len(indexes) > 4
    assert {name(path): found for path in indexes if (found := code_in_index(path.read_text(encoding="utf-8")))} == {}
    assert code_in_index('"""Index."""\nimport os\n__all__ = []\nx = 1\n') == ["x = 1"]


OLD_CYTHON = {
    "DEF and IF are deprecated, use a cdef enum": re.compile(r"^\s*(DEF|IF|ELIF|ELSE)\b(?!\s*=)", re.MULTILINE),
    "directives live in setup.py": re.compile(r"^\s*#\s*(cython|distutils)\s*:", re.MULTILINE),
    "directives live in setup.py too": re.compile(r"cython\.(boundscheck|wraparound|cdivision|initializedcheck)\b"),
    "without wraparound t[-1] reads before a list or tuple": re.compile(r"[\w\])]\[-\s*\w"),
    "no text paste": re.compile(r"^\s*include\s+[\"']", re.MULTILINE),
}


@pytest.mark.parametrize("rule", OLD_CYTHON)
def test_cython_practice(rule):
    assert [name(path) for path in CYTHON if OLD_CYTHON[rule].search(path.read_text(encoding="utf-8"))] == []
    examples = "DEF N = 3\n# cython: boundscheck=False\n@cython.boundscheck(False)\ninclude 'a.pxi'\nx = stack[-1]\n"
    assert len(OLD_CYTHON[rule].findall(examples)) == 1


def bare_codes(text):
    """The lines that read the code of a function that may be diverted: those of functions that codipy made may not."""
    bare = re.compile(r"(?<![\w.])(?!(?:unit\.)?new\b|_[A-Z_]+\b)[\w.]+\.__code__")
    return [line for line in text.splitlines() if bare.search(line)]


def test_who_reads_the_code_of_a_function_asks_for_its_own():
    """While a recording runs a function may have another one, see `code_of`."""
    own = {"codipy/tools/rebinding/diverted.pyx", "codipy/implicit/opened.py"}
    read = [path for folder in ("tools", "implicit") for path in (PACKAGE / folder).rglob("*.py*")]
    for path in read:
        if path.suffix in (".py", ".pyx") and name(path) not in own:
            assert bare_codes(path.read_text(encoding="utf-8")) == [], name(path)
    assert bare_codes("a = new.__code__\nb = f.__code__\nc = x.f.__code__\nd = _PLAIN.__code__") == [
        "b = f.__code__", "c = x.f.__code__"]  # fmt: skip


def test_nothing_above_the_tape_asks_which_strategy_it_is():
    """A strategy of tomorrow is of none of today's kinds: who asks for what it can do is told the right thing."""
    asks = re.compile(r"\b(r|recorder)\.kind\b|cimport.*\b(JACOBIAN|PRIMAL|SIMPLE|FORWARD)\b")
    above = [path for path in CYTHON if path.relative_to(PACKAGE).parts[0] != "tape"]
    assert [name(path) for path in above if asks.search(path.read_text(encoding="utf-8"))] == []
    assert any(asks.search(path.read_text(encoding="utf-8")) for path in CYTHON)


def typed_lists(text):
    """The lines of lists, tuples and sets that spell out three strategies or more."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            names = {part.value for part in node.elts if isinstance(part, ast.Constant)}
            if len(names.intersection(STRATEGIES)) > 2:
                yield node.lineno


def test_lists_of_strategies_come_from_one_place():
    """A list that was typed misses the strategy that came last: nine of ten once missed the default."""
    for path in files(".py", folders=["tests"]):
        assert list(typed_lists(path.read_text(encoding="utf-8"))) == [], name(path)
    assert list(typed_lists('for s in ("auto", "simple",\n "primal"): pass')) == [1]


def test_nothing_generated_is_tracked():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    tracked = run("git", "ls-files").stdout.split("\n")
    generated = re.compile(r"\.(cpp|so|pyd|o|pyc|pxi)$|(^|/)(build|dist|\.venv)/|operations/kernels\.(h|pxd)$")
    assert [path for path in tracked if generated.search(path)] == []
    assert [path for path in tracked if path.endswith(".c") and path[:-1] + "pyx" in tracked] == []
    assert "codipy/programs/tiles/walk.c" in tracked
    for path in ["codipy/data/chunk.c", "codipy/data/chunk.x.so", "build/c/codipy/data/chunk.c", "build/a", ".venv/a"]:
        assert run("git", "check-ignore", "-q", path).returncode == 0, f"{path} is not ignored"


def test_no_path_of_one_machine():
    home = re.compile(r"""(?<![\w.:/}-])/(root|home|tmp|Users|mnt)/\w""")
    texts = [*CODE, *files(".md", ".toml", ".csv"), ROOT / "Makefile", ROOT / ".ci" / "run"]
    assert [name(path) for path in texts if home.search(path.read_text(encoding="utf-8"))] == []
    assert home.search("see " + "/".join(["", "home", "me"]))


def tool(module):
    """Skip where the linter is not installed; `make test` installs them all."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed, it comes with the extra [dev]")


def test_ruff():
    tool("ruff")
    result = run(sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", ".")
    assert result.returncode == 0, result.stdout + result.stderr


def test_cython_lint():
    tool("cython_lint")
    lint = "import sys; from cython_lint.cython_lint import main; sys.exit(main())"
    result = run(sys.executable, "-c", lint, "--no-pycodestyle", *map(str, CYTHON))
    assert result.returncode == 0, result.stdout + result.stderr
