# SPDX-License-Identifier: Apache-2.0
"""Which recording a variable is of: one that is over, what records now, or one that an inner one borrows of."""
