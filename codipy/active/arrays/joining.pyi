# SPDX-License-Identifier: Apache-2.0
"""Arrays put together of pieces that lie in a row."""

from typing import final

@final
class Pieces: ...
