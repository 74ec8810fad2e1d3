# SPDX-License-Identifier: Apache-2.0
"""The variables that were registered on a tape, in order."""

from typing import final

@final
class Registered: ...
