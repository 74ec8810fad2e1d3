# SPDX-License-Identifier: Apache-2.0
"""What commands share: the function and point they run, tables, progress, JSON."""
