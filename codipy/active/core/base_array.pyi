# SPDX-License-Identifier: Apache-2.0
"""What an Array holds, and how one is made."""

class BaseArray: ...
