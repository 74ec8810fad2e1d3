# SPDX-License-Identifier: Apache-2.0
"""Fresh values and identifiers for a storage, of which some elements are overwritten next."""
