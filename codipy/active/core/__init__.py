# SPDX-License-Identifier: Apache-2.0
"""What Reals and Arrays hold, and pending expressions: below all functions on them."""
