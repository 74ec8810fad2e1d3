# SPDX-License-Identifier: Apache-2.0
"""What a stream accepts from Python, checked once at its door."""

import operator

import numpy as np

MAX_FIELDS = 4
MOST_ITEMS = 1 << 48  # far above any memory, far below where sizes in bytes could overflow

FIX = "give the items per chunk, or None to let chunks grow"


def valid_name(name):
    """Return the name of a stream, a str."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    return name


def valid_chunk_size(chunk_size):
    """Return the items per chunk as an int, 0 for growing chunks."""
    if chunk_size is None:
        return 0
    if isinstance(chunk_size, (bool, np.bool_)):
        raise TypeError(f"chunk_size must be an int, not {chunk_size!r}: {FIX}")
    try:
        size = operator.index(chunk_size)
    except TypeError:
        raise TypeError(f"chunk_size must be an int, not {type(chunk_size).__name__}: {FIX}") from None
    if not 1 <= size <= MOST_ITEMS:
        raise ValueError(f"chunk_size must be 1 or more and at most 2**48, not {size}: {FIX}")
    return size


def valid_dtypes(dtypes):
    """Return one NumPy dtype per field as a tuple."""
    result = tuple(np.dtype(dtype) for dtype in dtypes)
    if not 1 <= len(result) <= MAX_FIELDS:
        raise ValueError(f"dtypes must name one to {MAX_FIELDS} fields, not {len(result)}")
    for dtype in result:
        if dtype.hasobject or not 1 <= dtype.itemsize <= 1 << 20:
            raise TypeError(f"dtypes must have a fixed size and no Python objects, not {dtype!r}")
    return result


def check_count(fields, dtypes, name):
    """Raise unless there is one field for each dtype."""
    if len(fields) != len(dtypes):
        raise TypeError(f"{name!r} has {len(dtypes)} fields, but {len(fields)} were given")


def field_arrays(arrays, dtypes, name):
    """Return contiguous one-dimensional arrays of one length and the fields' types."""
    check_count(arrays, dtypes, name)
    result = [np.asarray(array) for array in arrays]
    for k, array in enumerate(result):
        if array.ndim != 1 or len(array) != len(result[0]):
            raise ValueError(
                f"arrays of {name!r} must be one-dimensional and of one length, but number {k} has shape {array.shape}"
            )
    return [
        np.ascontiguousarray(array.astype(dtype, casting="same_kind", copy=False))
        for array, dtype in zip(result, dtypes, strict=True)
    ]


def field_bytes(fields, dtypes, name):
    """Return one item's fields as bytes of the fields' types."""
    check_count(fields, dtypes, name)
    values = [np.array(field, dtype=dtype) for field, dtype in zip(fields, dtypes, strict=True)]
    for k, value in enumerate(values):
        if value.ndim != 0:
            raise ValueError(f"fields of {name!r} must be single values, but number {k} has shape {value.shape}")
    return [value.tobytes() for value in values]
