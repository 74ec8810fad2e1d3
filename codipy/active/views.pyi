# SPDX-License-Identifier: Apache-2.0
"""Between Arrays and plain arrays: the same elements seen as the other."""
