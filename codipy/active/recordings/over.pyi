# SPDX-License-Identifier: Apache-2.0
"""Recordings that are over."""
