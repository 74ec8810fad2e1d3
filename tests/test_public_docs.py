# SPDX-License-Identifier: Apache-2.0
"""The docstring of every public name says its parameters, results and errors, and has an example that runs."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import codipy

pytestmark = pytest.mark.release  # signatures of extension classes are those of the text

STUB = ast.parse((Path(codipy.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))
IMPORTED = [alias.asname for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names]
PUBLIC = [name for name in IMPORTED if callable(getattr(codipy, name, None)) and not name.startswith("_")]
NEVER_RAISE = {"active_tape", "clear_tapes", "get_num_threads", "value", "Primitive"}


def sections(text):
    """The parts of a docstring by their titles."""
    parts = re.split(r"^(\w[\w ]+)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def parameters(thing):
    """By the signature; that of an extension class is the first line of its docstring."""
    try:
        return list(inspect.signature(thing).parameters)
    except ValueError:
        arguments = ast.parse(f"def {thing.__doc__.splitlines()[0]}: pass").body[0].args
        return [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)]


def missing(name, thing):
    """What a docstring does not say."""
    text = inspect.getdoc(thing) or ""
    found = sections(text)
    named = re.findall(r"^(\*?\w+(?:, \*?\w+)*)(?: :|$)", found.get("Parameters", ""), flags=re.MULTILINE)
    told = {one.strip("* ") for line in named for one in line.split(",")}
    if not set(parameters(thing)) <= told:
        yield f"Parameters {sorted(set(parameters(thing)) - told)}"
    if not inspect.isclass(thing) and "Returns" not in found and "Raises" not in found:
        yield "Returns"
    if name not in NEVER_RAISE and "Raises" not in found:
        yield "Raises"
    if ">>>" not in found.get("Examples", ""):
        yield "Examples"


def test_there_are_public_names():
    assert {"grad", "Tape", "Array", "Real", "Primitive", "rebind", "check_derivatives"} <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_docstring_says_all(name):
    assert list(missing(name, getattr(codipy, name))) == []


@pytest.mark.parametrize("name", PUBLIC)
def test_its_example_runs(name):
    thing = getattr(codipy, name)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {}, name, None, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted and not result.failed


def test_what_is_missing_is_found():
    def bare(x):
        """Nothing is said.

        Parameters
        ----------
        y : int
        """

    assert list(missing("bare", bare)) == ["Parameters ['x']", "Returns", "Raises", "Examples"]
