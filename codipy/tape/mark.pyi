# SPDX-License-Identifier: Apache-2.0
"""Inputs on the tape."""

from typing import Any, final

from codipy.tape.record import Record

@final
class Mark(Record):
    @property
    def kept(self) -> list[Any]: ...
