# SPDX-License-Identifier: Apache-2.0
"""Derivative rules of the operations that are not elementwise, one file per family."""
