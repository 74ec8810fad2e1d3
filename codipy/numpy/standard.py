# SPDX-License-Identifier: Apache-2.0
"""The array API standard: the namespace that an Array names, and the one device there is."""

from __future__ import annotations

import importlib

__all__ = ["VERSIONS", "array_namespace", "to_device"]

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")


def array_namespace(a, /, *, api_version=None):
    """``ndarray.__array_namespace__``: `codipy.numpy`, which has the standard's names as NumPy has them."""
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(f"api_version: codipy.numpy knows {', '.join(VERSIONS)}, not {api_version!r}")
    return importlib.import_module("codipy.numpy")


def to_device(a, device, /, *, stream=None):
    """``ndarray.to_device``: the Array itself, for "cpu"."""
    if stream is not None:
        raise ValueError("stream: there is none, leave it away")
    if device != "cpu":
        raise ValueError(f"device: Arrays are on \"cpu\", not on {device!r}")
    return a
