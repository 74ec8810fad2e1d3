# SPDX-License-Identifier: Apache-2.0
"""What a Real holds, and what messages call it."""

class BaseReal: ...
