# SPDX-License-Identifier: Apache-2.0
"""Which adjoints a vector holds no longer, since a sweep consumed them."""

from typing import final

@final
class Consumed: ...
