# SPDX-License-Identifier: Apache-2.0
"""Passes over such data: a smaller recording with the same derivatives."""
