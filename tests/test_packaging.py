# SPDX-License-Identifier: Apache-2.0
"""What an installer reads: the version in one place, extras that some code needs, and extensions without symbols."""

import importlib.util
import re
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

import codipy
from codipy import cli

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[1]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_version_is_the_installers(capsys):
    from setuptools.config.expand import read_attr

    where = re.search(r'^version = \{ attr = "([\w.]+)" \}', PROJECT, re.MULTILINE).group(1)
    assert read_attr(where, root_dir=str(ROOT)) == codipy.__version__
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"codipy {codipy.__version__}\n"


def made_by(folder, *command):
    """The files that a command of setup.py writes into a folder."""
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", str(folder), *command],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def test_a_wheel_holds_what_runs_and_what_types_it(tmp_path):
    """Beside the extension modules: no sources of Cython or C, which no document offers to anybody, and no tests."""
    found = [name for name in made_by(tmp_path, "build_py", "--build-lib", str(tmp_path)) if name.startswith("codipy/")]
    assert {"codipy/py.typed", "codipy/active/scalar/real.pyi", "codipy/tools/rebinding/__init__.py"} <= set(found)
    assert [name for name in found if "_testing" in name or not name.endswith((".py", ".pyi", "/py.typed"))] == []


def test_a_source_distribution_holds_what_is_written_by_hand(tmp_path):
    names = made_by(tmp_path, "sdist", "--formats", "tar", "--dist-dir", str(tmp_path))
    with tarfile.open(tmp_path / next(name for name in names if name.endswith(".tar"))) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    suffixes = (".py", ".pyx", ".pxd", ".pyi", ".c", ".h")
    written = {path for path in (ROOT / "codipy").rglob("*") if path.suffix in suffixes}
    assert {path.relative_to(ROOT).as_posix() for path in written} <= held
    assert [name for name in held if name.startswith("build") or name.endswith((".so", ".pyd", ".o"))] == []


def test_each_supported_python_is_listed():
    listed = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
    assert listed == [f"3.{minor}" for minor in range(10, 14)]  # those that the suite has run on
    assert 'requires-python = ">=3.10"' in PROJECT


def test_a_free_threaded_python_is_refused():
    program = (
        "import runpy, sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1;"
        "runpy.run_path('setup.py', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "free-threaded" in done.stderr and "python3.13" in done.stderr


OPTIONS = {"pytest-xdist": "--dist loadfile"}      # what is used without its name


def test_every_extra_is_used():
    """An extra that no code imports installs something for nothing."""
    extras = re.search(r"^\[project.optional-dependencies\]\n(.*?)\n\n", PROJECT, re.MULTILINE | re.DOTALL).group(1)
    sources = {"bench": ROOT.glob("benchmarks/**/*.py")}
    tools = [ROOT / "Makefile", ROOT / "setup.py", *ROOT.glob("tests/**/*.py"), *ROOT.glob("examples/*.py")]
    for extra, packages in re.findall(r"^(\w+) = \[(.*)\]$", extras, re.MULTILINE):
        names = re.findall(r'"([\w-]+)', packages)
        files = tools if extra == "dev" else sources.get(extra, ROOT.glob("codipy/**/*.py"))
        text = "\n".join(path.read_text(encoding="utf-8") for path in files)
        for name in names:
            module = name.replace("-", "_")
            used = OPTIONS.get(name) or rf"(import|from|-m) {module}\b|[\"']({module}|{name})[\"']"
            assert re.search(used, text, re.I), (extra, name)


def setup_script(monkeypatch):
    """What setup.py defines."""
    monkeypatch.syspath_prepend(str(ROOT))
    spec = importlib.util.spec_from_file_location("codipy_setup", ROOT / "setup.py")
    setup = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "codipy_setup", setup)
    spec.loader.exec_module(setup)
    return setup


def test_extensions_for_tests_are_not_installed(monkeypatch):
    setup = setup_script(monkeypatch)
    monkeypatch.chdir(ROOT)
    built, installed = ({module.name for module in setup.extensions(place)} for place in (True, False))
    assert built - installed == {f"codipy._testing.{name}" for name in ("allocations", "kernels", "tiles")}


@pytest.mark.skipif(sys.platform != "linux", reason="the flags are those of GNU's linker")
def test_what_is_installed_has_no_symbol_table(tmp_path, monkeypatch):
    """Links a small library with the flags of an installed build and looks for what a debugger reads."""
    setup = setup_script(monkeypatch)
    source, compiler = tmp_path / "small.c", (sysconfig.get_config_var("CC") or "cc").split()[0]
    source.write_text("static int inner(int x) { return x + 1; }\nint outer(int x) { return inner(x) * inner(2); }\n")
    sizes = []
    for flags in ([], setup.STRIP_FLAGS):
        library = tmp_path / f"small{len(sizes)}.so"
        made = subprocess.run(
            [compiler, "-g", "-O0", "-fPIC", "-shared", str(source), "-o", str(library), *flags],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"no C compiler: {made.stderr[:200]}")
        content = library.read_bytes()
        assert b"outer" in content
        sizes.append((b".symtab" in content, b".debug_info" in content))
    assert sizes == [(True, True), (False, False)]
