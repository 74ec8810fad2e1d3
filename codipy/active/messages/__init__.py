# SPDX-License-Identifier: Apache-2.0
"""What errors say of the user's code: who asked, and what to write instead."""
