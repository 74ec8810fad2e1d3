# SPDX-License-Identifier: Apache-2.0
"""Free runs of identifiers, found by size and by address in O(1), coalesced at once; Python sees none."""
