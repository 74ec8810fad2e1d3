# SPDX-License-Identifier: Apache-2.0
"""The nested chunked streams: bytes only, no derivatives."""

from codipy.data.pool import bytes_outstanding as bytes_outstanding
from codipy.data.pool import clear_pool as clear_pool
from codipy.data.pool import fail_after as fail_after
from codipy.data.pool import pool_bytes as pool_bytes
from codipy.data.pool import pool_limit as pool_limit
from codipy.data.pool import set_pool_limit as set_pool_limit
from codipy.data.position import Position as Position
from codipy.data.region import Regions as Regions
from codipy.data.stream import Stream as Stream

__all__ = [
    "Position",
    "Regions",
    "Stream",
    "bytes_outstanding",
    "clear_pool",
    "fail_after",
    "pool_bytes",
    "pool_limit",
    "set_pool_limit",
]
