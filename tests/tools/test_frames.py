# SPDX-License-Identifier: Apache-2.0
"""What frames tell of calls: those of compiled functions, which stand in tracebacks, tell nothing."""

import functools
import sys
from types import SimpleNamespace

import pytest

from codipy.tools.rebinding.frames import is_unpacked, names_kept, unpacks_into_tuple


def test_a_frame_without_bytecode_unpacks_nothing():
    compiled = SimpleNamespace(f_code=SimpleNamespace(co_code=b""), f_lasti=-1)
    assert not is_unpacked(compiled) and not unpacks_into_tuple(compiled)


def test_a_frame_that_unpacks():
    def seen(*_):
        return is_unpacked(sys._getframe(1))

    def calls(args):
        return [seen(*args), seen(args)]

    assert calls((1, 2)) == [True, False]


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="a caller gives its arguments away")
def test_what_the_stack_of_a_caller_keeps():
    def kept():
        frame = sys._getframe(1)
        return names_kept(frame.f_back, frame.f_code)

    def plain(a, b, c=None):
        return kept()

    def changing(a, b):
        b = None
        return kept(), b

    class Holder:
        def method(self, a, b):
            return kept()

    holder = Holder()
    bound = holder.method
    assert plain(1, 2, 3) == ("a", "b", "c")
    assert plain(1, b=2) == ("b",)  # whether `a` is the object of a method cannot be told
    assert plain(1, 2) == ("b",)
    assert changing(1, 2)[0] == ("a",)
    assert holder.method(1, 2) == ("a",) and bound(1, 2) == ("a",)
    assert functools.partial(plain, 1)(2, 3) == ("b",)
    assert plain(*(1, 2)) == ()
