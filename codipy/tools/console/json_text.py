# SPDX-License-Identifier: Apache-2.0
"""Numbers that JSON has no word for: NaN and infinities are written as text, which every reader of JSON takes."""
from __future__ import annotations

import json
import math

__all__ = ["json_text", "with_numbers"]

_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def json_text(found, indent=1):
    """The text of dictionaries, lists and numbers.

    Parameters
    ----------
    found : dict or list
        What the text says.
    indent : int or None
        As of `json.dumps`.

    Returns
    -------
    str
        Valid JSON: a NaN is ``"NaN"``, infinities are ``"Infinity"`` and ``"-Infinity"``.

    Examples
    --------
    >>> json_text({"peak": float("nan")}, None)
    '{"peak": "NaN"}'
    """
    return json.dumps(_with_words(found), indent=indent, allow_nan=False)


def with_numbers(read):
    """The numbers again, in something that was read of such a text and holds no other text with these words."""
    if isinstance(read, str):
        return _WORDS.get(read, read)
    if isinstance(read, dict):
        return {name: with_numbers(value) for name, value in read.items()}
    return [with_numbers(value) for value in read] if isinstance(read, list) else read


def _with_words(found):
    if isinstance(found, float) and not math.isfinite(found):
        return "NaN" if math.isnan(found) else "Infinity" if found > 0.0 else "-Infinity"
    if isinstance(found, dict):
        return {name: _with_words(value) for name, value in found.items()}
    return [_with_words(value) for value in found] if isinstance(found, (list, tuple)) else found
