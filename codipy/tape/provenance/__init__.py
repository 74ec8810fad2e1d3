# SPDX-License-Identifier: Apache-2.0
"""Where the program is, what was recorded there, and who looks on."""
