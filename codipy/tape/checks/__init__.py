# SPDX-License-Identifier: Apache-2.0
"""The invariants of a recording, read from the bytes of its streams."""
