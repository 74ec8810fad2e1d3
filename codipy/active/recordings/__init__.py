# SPDX-License-Identifier: Apache-2.0
"""Which recording a variable is of: those that are over, what records now, what an inner one borrows."""
