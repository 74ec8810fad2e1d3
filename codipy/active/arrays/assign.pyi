# SPDX-License-Identifier: Apache-2.0
"""Writing into arrays in place."""
