# SPDX-License-Identifier: Apache-2.0
"""The array API standard: its names, the namespace that an Array names, and the one device there is."""

from __future__ import annotations

import importlib

__all__ = ["NAMES", "VERSIONS", "array_namespace", "to_device"]

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

_NAMES = {
    "constants": "e inf nan newaxis pi",
    "data types": """
        bool complex128 complex64 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8 astype can_cast
        finfo iinfo isdtype result_type __array_namespace_info__
    """,
    "creation": """
        arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
        zeros_like
    """,
    "elementwise": """
        abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
        bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide
        greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp
        logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive
        pow real reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc
    """,
    "manipulation": """
        broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack
        take take_along_axis tile unstack
    """,
    "searching and sorting": """
        argmax argmin argsort count_nonzero nonzero searchsorted sort unique_all unique_counts unique_inverse
        unique_values where
    """,
    "statistics": "all any cumulative_prod cumulative_sum diff max mean min prod std sum var",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "linalg": """
        cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer
        pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
    """,
    "fft": "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn",
}
_EXTENSIONS = ("linalg", "fft")

# Every name of the version 2024.12 below the namespace, by family.
NAMES = {
    family: [f"{family}.{name}" if family in _EXTENSIONS else name for name in names.split()]
    for family, names in _NAMES.items()
}


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
