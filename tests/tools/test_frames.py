# SPDX-License-Identifier: Apache-2.0
"""What frames tell of calls: those of compiled functions, which stand in tracebacks, tell nothing."""

import sys
from types import SimpleNamespace

from codipy.tools.rebinding.frames import is_unpacked, unpacks_into_tuple


def test_a_frame_without_bytecode_unpacks_nothing():
    compiled = SimpleNamespace(f_code=SimpleNamespace(co_code=b""), f_lasti=-1)
    assert not is_unpacked(compiled) and not unpacks_into_tuple(compiled)


def test_a_frame_that_unpacks():
    def seen(*_):
        return is_unpacked(sys._getframe(1))

    def calls(args):
        return [seen(*args), seen(args)]

    assert calls((1, 2)) == [True, False]
