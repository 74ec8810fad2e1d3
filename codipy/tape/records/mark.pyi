# SPDX-License-Identifier: Apache-2.0
"""Inputs on the tape."""

from typing import final

from codipy.tape.records.record import Record

@final
class Mark(Record): ...
