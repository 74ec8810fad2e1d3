# SPDX-License-Identifier: Apache-2.0
"""The page for people who know CoDiPack names only what there is."""

import re
from pathlib import Path

import codipy

PAGE = Path(__file__).parents[1] / "docs" / "codipack.md"
NAME = re.compile(r"\b(codipy|tape|x)((?:\.\w+)+)")


def test_every_name_of_codipy_is_one():
    tape = codipy.Tape()
    with tape:
        holders = {"codipy": codipy, "tape": tape, "x": tape.register_input(1.0)}
        text = "\n".join(line.rpartition("| ")[2] if line.startswith("|") else "" for line in
                         PAGE.read_text(encoding="utf-8").replace(" |\n", "\n").splitlines())
        names = [(owner, path[1:].split(".")) for owner, path in NAME.findall(text)]
        assert len(names) > 40
        for owner, path in names:
            found = holders[owner]
            for name in path:
                if (owner, name) == ("x", "tangent"):
                    break      # of strategy 'forward' alone
                assert hasattr(found, name), f"{owner}.{'.'.join(path)}"
                found = getattr(found, name)
