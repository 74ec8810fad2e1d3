# SPDX-License-Identifier: Apache-2.0
"""A bridge to a package that is not installed says what to install."""

import importlib
import sys

import pytest

import codipy.bridges


@pytest.mark.parametrize(
    ("package", "name", "args"),
    [
        ("torch", "to_torch", (abs,)),
        ("torch", "from_torch", (abs,)),
        ("jax", "to_jax", (abs,)),
        ("jax", "from_jax", (abs,)),
        ("pytensor", "to_pytensor", (abs, None)),
    ],
)
def test_the_package_is_named(monkeypatch, package, name, args):
    for module in list(sys.modules):
        if module.split(".")[0] == package:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"codipy.bridges.{name} needs {package}: pip install {package}"):
        getattr(codipy.bridges, name)(*args)


def test_components_of_openmdao(monkeypatch):
    monkeypatch.setitem(sys.modules, "openmdao", None)
    monkeypatch.delitem(sys.modules, "codipy.bridges.openmdao", raising=False)
    with pytest.raises(ImportError, match="needs openmdao: pip install openmdao"):
        importlib.import_module("codipy.bridges.openmdao")
