# SPDX-License-Identifier: Apache-2.0
"""Every invariant of a nest of streams, in one place to read."""

from codipy.data.stream import Stream

def check_nest(root: Stream) -> None: ...
