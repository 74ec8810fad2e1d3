# SPDX-License-Identifier: Apache-2.0
"""What views of one array share."""

from typing import final

@final
class Storage: ...
