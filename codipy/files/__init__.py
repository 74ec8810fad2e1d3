# SPDX-License-Identifier: Apache-2.0
"""Tape files: recordings that outlive the program that made them; docs/design/tape_files.md has the format."""

from codipy.files.load import load_tape as load_tape
from codipy.files.save import save as save
