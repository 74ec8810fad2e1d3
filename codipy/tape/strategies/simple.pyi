# SPDX-License-Identifier: Apache-2.0
"""The strategy `simple` of CoDiPack's documentation: operations, their identifiers and their arguments' values."""

from codipy.tape.strategies.strategy import Strategy

class Simple(Strategy):
    def __new__(cls, chunk_size: int | None) -> Simple: ...
