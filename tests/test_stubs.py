# SPDX-License-Identifier: Apache-2.0
"""The stubs say what the extension modules have: the same public names, members and parameters, and mypy agrees."""

import ast
import importlib
import importlib.util
import inspect
import subprocess
import sys
import types
from pathlib import Path

import pytest

from codipy.active.array import Array
from codipy.numpy.methods import METHODS

ROOT = Path(__file__).parents[1]
MISSING = object()
STUBS = sorted((ROOT / "codipy").rglob("*.pyi"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def module_name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def declared(body):
    """What a stub's module or class body declares: name -> node, of overloads the last."""
    names = {}
    for node in body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.Assign):
            names |= {target.id: node for target in node.targets}
    return names


def parameters(node):
    """The parameter names of a stub's function."""
    spec = node.args
    groups = [*spec.posonlyargs, *spec.args, spec.vararg, *spec.kwonlyargs, spec.kwarg]
    return [argument.arg for argument in groups if argument is not None]


def is_overload(node):
    return any("overload" in ast.unparse(decorator) for decorator in node.decorator_list)


def own_names(thing, module):
    """The public names that a module (or class) defines itself, not those that it imports (or inherits).

    A constant does not tell where it comes from, so a module's own constants are those in `__all__`.
    """
    is_class, listed = isinstance(thing, type), getattr(thing, "__all__", ())
    late = METHODS if thing is Array else ()  # put into the class when the first is asked for; see `__getattr__`
    for name, value in vars(thing).items():
        own = is_class or name in listed or getattr(value, "__module__", None) == module
        if own and not name.startswith("_") and vars(thing)[name] is not dict(late).get(name, MISSING):
            yield name


def differences(tree, thing, module, where):
    """What stub and run time do not agree on, one line each."""
    stub = declared(tree.body)
    for name in sorted(set(own_names(thing, module)) - stub.keys()):
        yield f"{where}.{name} is not in the stub"
    for name, node in stub.items():
        if name.startswith("_") and not (name.startswith("__") or isinstance(node, FUNCTIONS)):
            continue  # a type variable or alias of the stub's own
        if name in ("__buffer__", "__release_buffer__") and sys.version_info < (3, 12):
            continue  # C slots that Python does not see before 3.12
        if not hasattr(thing, name):
            yield f"{where}.{name} is only in the stub"
        elif isinstance(node, ast.ClassDef):
            yield from differences(node, getattr(thing, name), module, f"{where}.{name}")
        elif isinstance(node, FUNCTIONS) and not is_overload(node):
            yield from different_parameters(node, getattr(thing, name), f"{where}.{name}")


def different_parameters(node, function, where):
    if node.name.startswith("__") or not callable(function):
        return  # slots have no names at run time, properties no parameters
    try:
        found = [name for name in inspect.signature(function).parameters if name != "self"]
    except ValueError:
        return  # a built-in without a signature
    expected = [name.removeprefix("__") for name in parameters(node) if name not in ("self", "cls")]
    if found != expected:
        yield f"{where}{tuple(found)} has {tuple(expected)} in the stub"


@pytest.mark.parametrize("path", STUBS, ids=module_name)
def test_stub_and_module_agree(path):
    module = importlib.import_module(module_name(path))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert list(differences(tree, module, module.__name__, module.__name__)) == []


def test_the_index_holds_what_its_stub_says():
    import codipy

    tree = ast.parse((ROOT / "codipy" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {alias.asname: node.module for node in imports for alias in node.names}
    assert len(names) > 15
    for name, module in names.items():
        expected = importlib.import_module(f"codipy.{name}" if module == "codipy" else module)
        assert getattr(codipy, name) is (expected if module == "codipy" else getattr(expected, name))
    submodules = {"active", "cli", "data", "errors", "identifiers", "lazy", "nested", "operations", "programs", "tape"}
    submodules |= {"complexes", "files", "patterns", "series", "version"}
    assert {name for name in dir(codipy) if not name.startswith("_")} - submodules == names.keys() - {"__version__"}


def test_there_are_stubs():
    assert len(STUBS) > 8


def test_every_kind_of_difference_is_caught():
    class Stream:
        def push(self, item): ...
        def reset(self): ...

    module = types.ModuleType("module")
    module.Stream, module.extra, module.size = Stream, lambda: None, 4
    Stream.__module__ = module.extra.__module__ = "module"
    stub = "size: int\nlost: int\nclass Stream:\n def push(self, value): ...\n def pop(self): ...\n"
    assert sorted(differences(ast.parse(stub), module, "module", "module")) == [
        "module.Stream.pop is only in the stub",
        "module.Stream.push('item',) has ('value',) in the stub",
        "module.Stream.reset is not in the stub",
        "module.extra is not in the stub",
        "module.lost is only in the stub",
    ]


@pytest.mark.release
def test_mypy_on_the_package():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed, it comes with the extra [dev]")
    if sys.version_info < (3, 11):
        pytest.skip("under 3.10 mypy takes the operators of Real for attributes that cannot be called")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir=build/mypy"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
