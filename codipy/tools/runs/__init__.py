# SPDX-License-Identifier: Apache-2.0
"""One run of a function on a tape, whatever forms its arguments and results have."""
