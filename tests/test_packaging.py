# SPDX-License-Identifier: Apache-2.0
"""What an installer reads: the version in one place, extras that some code needs, and extensions without symbols."""

import importlib.util
import re
import subprocess
import sys
import sysconfig
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


def test_each_supported_python_is_listed():
    listed = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
    assert listed == [f"3.{minor}" for minor in range(10, 15)]
    assert 'requires-python = ">=3.10"' in PROJECT


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
            assert re.search(rf"(import|from|-m) {module}\b|[\"']({module}|{name})[\"']", text, re.I), (extra, name)


@pytest.mark.skipif(sys.platform != "linux", reason="the flags are those of GNU's linker")
def test_what_is_installed_has_no_symbol_table(tmp_path, monkeypatch):
    """Links a small library with the flags of an installed build and looks for what a debugger reads."""
    monkeypatch.syspath_prepend(str(ROOT))
    spec = importlib.util.spec_from_file_location("codipy_setup", ROOT / "setup.py")
    setup = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "codipy_setup", setup)
    spec.loader.exec_module(setup)
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
