# SPDX-License-Identifier: Apache-2.0
"""Functions that active values cannot enter, each with its reason and with what to write instead."""

from __future__ import annotations

__all__ = ["FUNCTIONS", "MODULES", "NEWER"]

_DATES = "dates have no derivative: take `codipy.value(x)`"
_FILES = "a file keeps values only: write `codipy.value(x)`"
_BITS = "bits of whole numbers have no derivative: take `codipy.value(x).astype(...)`"
_RECORDS = "fields of structured arrays cannot be active: keep one codipy.Array for each field"
_TEXT = "text has no derivative: take `codipy.value(x)`"

_REASONS = {
    _DATES: "busday_count busday_offset is_busday datetime_as_string",
    _FILES: "save savetxt savez savez_compressed",
    _BITS: "packbits unpackbits",
    _RECORDS: """
        append_fields apply_along_fields assign_fields_by_name drop_fields find_duplicates join_by merge_arrays
        rec_append_fields rec_drop_fields rec_join recursive_fill_fields rename_fields repack_fields require_fields
        stack_arrays structured_to_unstructured unstructured_to_structured
    """,
}

# Whole modules of text.
MODULES = {"char": _TEXT, "strings": _TEXT, "rec": _RECORDS, "ma": "masked arrays cannot be active: use `np.where`"}

# What later versions of NumPy have; docs/numpy.md is made with an earlier one.
NEWER = {"polynomial.polynomial.polyvalnd": "no rule is written for it yet: use `polyval2d` or `polyval3d`"}

FUNCTIONS = {name: reason for reason, names in _REASONS.items() for name in names.split()}
FUNCTIONS = {f"lib.recfunctions.{n}" if reason == _RECORDS else n: reason for n, reason in FUNCTIONS.items()}
