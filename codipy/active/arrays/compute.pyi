# SPDX-License-Identifier: Apache-2.0
"""From pending array expressions to values, and to statements on the tape."""
