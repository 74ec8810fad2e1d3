# SPDX-License-Identifier: Apache-2.0
"""Where a tape's memory goes, to the byte."""
