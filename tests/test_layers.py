# SPDX-License-Identifier: Apache-2.0
"""The layers' arrows point downward: reads every import, cimport and include of the package and fails on one upward."""

import posixpath
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "codipy"

# Who may see whom. A layer sees itself; `errors` and nothing else is seen by all; nobody sees the top.
BOTTOM = {"errors", "inline"}
STORES = {"data", "identifiers", "operations"}
TOP = {"__main__", "codipy", "implicit", "lazy", "testing", "cli", "version"}
MAY_SEE = {"errors": set(), "inline": set()}
MAY_SEE |= dict.fromkeys(STORES, BOTTOM)
MAY_SEE["programs"] = BOTTOM | STORES
MAY_SEE["tape"] = MAY_SEE["programs"] | {"programs"}
MAY_SEE["active"] = MAY_SEE["tape"] | {"tape"}
MAY_SEE |= dict.fromkeys(["numpy", "scipy", "math"], MAY_SEE["active"] | {"active", "numpy", "scipy"})
MAY_SEE["complexes"] = MAY_SEE["numpy"]
MAY_SEE["cmath"] = MAY_SEE["numpy"] | {"complexes"}
MAY_SEE["nested"] = MAY_SEE["numpy"]
MAY_SEE["series"] = MAY_SEE["nested"] | {"nested"}
MAY_SEE["patterns"] = MAY_SEE["numpy"]
MAY_SEE["files"] = MAY_SEE["numpy"] | {"complexes", "cmath"}
MAY_SEE["tools"] = MAY_SEE["series"] | {"math", "series", "patterns", "files", "complexes", "cmath"}
MAY_SEE["laboratory"] = MAY_SEE["tools"] | {"tools", "version"}
MAY_SEE["bridges"] = MAY_SEE["tools"] | {"tools"}
MAY_SEE |= dict.fromkeys(TOP, MAY_SEE["laboratory"] | {"laboratory", "bridges"} | TOP)
MAY_SEE["_testing"] = MAY_SEE["tape"]  # is not installed: nobody sees it

STRINGS = re.compile(r'("""|\'\'\')(.*?)\1', re.DOTALL)
FROM = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
IMPORT = re.compile(r"^[ \t]*c?import[ \t]+([\w., \t]+)", re.MULTILINE)
BY_NAME = re.compile(r"\b(?:import_module|__import__)\([\"']([\w.]+)[\"']")
INCLUDE = re.compile(r"(?:#[ \t]*include|cdef extern from)[ \t]+[\"']([\w./]+\.h)[\"']")


def layer_of(module):
    """The layer of a dotted name inside the package: `codipy.tape.tape` is of `tape`, `codipy` of the top."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "codipy"


def module_of(path):
    """The dotted name of a file of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def targets(text, module, is_package):
    """Every codipy module that `text`, the source of `module`, names in an import, a cimport or an include."""
    here = module.split(".") if is_package else module.split(".")[:-1]
    for header in INCLUDE.findall(text):
        path = header if header.startswith("codipy/") else posixpath.join(*here, header)
        yield posixpath.normpath(path).removesuffix(".h").replace("/", ".")
    yield from (name for name in BY_NAME.findall(text) if name.split(".")[0] == "codipy")
    text = STRINGS.sub('""', text).replace("\\\n", " ")
    for names in IMPORT.findall(text):
        words = (name.split()[0] for name in names.split(",") if name.strip())
        yield from (word for word in words if word.split(".")[0] == "codipy")
    for full, names in from_imports(text, here):
        for name in names:  # what is no layer is a public name, which the top hands out
            yield f"{full}.{name}" if full == "codipy" and name in MAY_SEE else full


def from_imports(text, here):
    """The module and the names of each `from ... import` of codipy's own, in the package `here`."""
    for source, names in FROM.findall(text):
        dots = len(source) - len(source.lstrip("."))
        base = here[: len(here) - dots + 1] if dots else []
        full = ".".join([*base, *filter(None, source.lstrip(".").split("."))])
        if full.split(".")[0] == "codipy":
            words = re.sub(r"#[^\n]*", "", names).strip("() \n").split(",")
            yield full, [word.split()[0] for word in words if word.strip()]


def upward(text, module, is_package=False):
    """The arrows of one source text that its layer may not have."""
    layer = layer_of(module)
    return sorted(
        f"{module} -> {target}"
        for target in set(targets(text, module, is_package))
        if layer_of(target) != layer and layer_of(target) not in MAY_SEE[layer]
    )


def is_generated(path):
    """Whether Cython wrote it: a traced build leaves its C beside the source."""
    return path.suffix == ".c" and path.with_suffix(".pyx").exists()


def sources():
    suffixes = {".py", ".pyx", ".pxd", ".pyi", ".c", ".h"}
    return sorted(path for path in PACKAGE.rglob("*") if path.suffix in suffixes and not is_generated(path))


def test_no_arrow_points_upward():
    wrong = []
    for path in sources():
        wrong += upward(path.read_text(encoding="utf-8"), module_of(path), path.stem == "__init__")
    assert not wrong, "\n".join(wrong)


def imports():
    """By module, the modules that it imports, cimports or includes, inside of functions too."""
    modules = {module_of(path) for path in sources()}
    found = {name: set() for name in modules}
    for path in [path for path in sources() if path.suffix != ".pyi"]:  # stubs are never imported
        text, name = path.read_text(encoding="utf-8"), module_of(path)
        found[name] |= set(targets(text, name, path.stem == "__init__"))
        here = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
        for source, words in from_imports(STRINGS.sub('""', text).replace("\\\n", " "), here):
            inner = {f"{source}.{word}" for word in words} & modules
            if len(inner) == len(words):  # of the folder nothing is meant but modules in it
                found[name].discard(source)
            found[name] |= inner
    return {name: (words & modules) - {name} for name, words in found.items()}


def cycles(graph):
    """The strongly connected parts of a graph that have more than one member (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            part = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            found.append(sorted(part))

    for name in graph:
        if name not in index:
            visit(name)
    return [part for part in found if len(part) > 1]


def test_no_cycle_has_more_than_three_modules():
    """Whoever reads one of them has to read all."""
    wrong = [part for part in cycles(imports()) if len(part) > 3]
    assert not wrong, wrong


def test_cycles_are_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}) == [["a", "b", "c"]]
    graph = imports()
    assert "codipy.active.core.base_real" in graph["codipy.active.scalar.real"]  # by cimport
    assert "codipy.active.arrays.flat" in graph["codipy.active.array_type"]  # inside of a function
    graph["codipy.active.storage.view"].add("codipy.active.tape")
    assert any(len(part) > 3 for part in cycles(graph))


def rooms(graph, folder):
    """By sub-folder of `folder`, the others that its modules see."""
    depth = folder.count(".") + 1
    inside = [name for name in graph if name.startswith(folder + ".") and name.count(".") > depth]
    found = {name.split(".")[depth]: set() for name in inside}
    for name in inside:
        seen = {other.split(".")[depth] for other in graph[name] if other in inside}
        found[name.split(".")[depth]] |= seen - {name.split(".")[depth]}
    return found


@pytest.mark.parametrize("folder", ["codipy.active", "codipy.tape", "codipy.programs", "codipy.scipy", "codipy.tools"])
def test_rooms_of_a_folder_see_each_other_one_way(folder):
    """Rooms can be read in an order; the files beside them see and are seen by all."""
    found = rooms(imports(), folder)
    assert len(found) > 1
    assert not cycles(found)


def test_rooms_that_see_each_other_are_found():
    graph = imports()
    graph["codipy.tape.records.slots"].add("codipy.tape.strategies.table")
    assert any({"records", "strategies"} <= set(part) for part in cycles(rooms(graph, "codipy.tape")))


def test_every_file_belongs_to_a_layer():
    unknown = {layer_of(module_of(path)) for path in sources()} - MAY_SEE.keys()
    assert not unknown, f"say in MAY_SEE what these may see: {sorted(unknown)}"


def test_the_reader_sees_the_arrows_that_are_there():
    """A reader that finds nothing would pass on anything."""
    seen = {
        (layer_of(module_of(path)), layer_of(target))
        for path in sources()
        for target in targets(path.read_text(encoding="utf-8"), module_of(path), path.stem == "__init__")
    }
    for arrow in [("tape", "data"), ("tape", "programs"), ("programs", "operations"), ("active", "tape")]:
        assert arrow in seen


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("codipy.data.stream", "from codipy.tape.tape cimport Tape"),
        ("codipy.data.stream", "from codipy.identifiers cimport linear"),
        ("codipy.data.stream", "from ..operations import table"),
        ("codipy.identifiers.reuse", "cimport codipy.data.chunk as chunk"),
        ("codipy.operations.table", "import numpy, codipy.programs.program"),
        ("codipy.programs.program", "    from codipy import (\n        errors,\n        tape,\n    )"),
        ("codipy.programs.program", "from codipy import errors, \\\n    tape"),
        ("codipy.tape.tape", 'cdef extern from "codipy/active/scalar/real.h" nogil:'),
        ("codipy.tape.kernels", '#include "codipy/active/scalar/real.h"'),
        ("codipy.tape.kernels", '#include "../active/scalar/real.h"'),
        ("codipy.tape.tape", 'real = importlib.import_module("codipy.active.scalar.real")'),
        ("codipy.active.scalar.real", "from codipy.tools.derivatives.drivers import grad"),
        ("codipy.tools.derivatives.drivers", "import codipy"),
        ("codipy.tools.derivatives.drivers", "from codipy import testing"),
        ("codipy.tools.derivatives.drivers", "from codipy import Tape"),
        ("codipy.tools.rebind", "from ..testing import check_derivatives"),
        ("codipy.errors", "from codipy.data import Stream"),
    ],
)
def test_an_arrow_upward_is_caught(module, line):
    innocent = '"""Text: from codipy.tape import this."""\nimport numpy as np\n'
    assert upward(innocent, module) == []
    assert len(upward(innocent + line + "\n", module)) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("codipy.tape.tape", "from codipy.data.stream cimport Stream"),
        ("codipy.tape.tape", "from codipy import errors"),
        ("codipy.data.stream", "from ..errors import TapeError"),
        ("codipy.data.stream", "from .chunk cimport Chunk"),
        ("codipy.tools.derivatives.drivers", "from codipy.active import Real"),
        ("codipy.tape.tape", '#include "recorder.h"'),
        ("codipy.tape.tape", '#include "../data/pages.h"'),
        ("codipy.testing", "from codipy.tools import grad"),
        ("codipy.testing", "from codipy import Tape"),
        ("codipy.cli", "import codipy"),
    ],
)
def test_an_arrow_downward_is_allowed(module, line):
    assert upward(line + "\n", module) == []
    assert list(targets(line + "\n", module, False))
