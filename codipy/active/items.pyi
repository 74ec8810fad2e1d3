# SPDX-License-Identifier: Apache-2.0
"""What `a[index]` and `a[index] = value` do."""
