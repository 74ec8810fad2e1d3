# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/bridges.md, where their packages are installed, each in a process and a folder of its own."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "bridges.md"
EXAMPLE = re.compile(r"^## (.*?)\n.*?```python\n(.*?)```\n```text\n(.*?)```", re.MULTILINE | re.DOTALL)
PACKAGES = {"PyTorch": "torch", "JAX": "jax", "PyTensor": "pytensor", "Ipopt": "cyipopt", "OpenMDAO": "openmdao"}
EXAMPLES = {name: (source, said) for name, source, said in EXAMPLE.findall(PAGE.read_text())}


def test_each_package_has_an_example():
    assert EXAMPLES.keys() == PACKAGES.keys()


@pytest.mark.parametrize("name", PACKAGES)
def test_the_example_prints_what_the_page_says(name, tmp_path):
    if importlib.util.find_spec(PACKAGES[name]) is None:
        pytest.skip(f"{PACKAGES[name]} is not installed")
    source, said = EXAMPLES[name]
    file = tmp_path / "example.py"
    file.write_text(source)
    paths = [str(PAGE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path,
                         env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)})  # fmt: skip
    assert run.stdout == said, run.stderr
