# SPDX-License-Identifier: Apache-2.0
"""Which identifiers an argument or a result of a call has, and what vectors hold for them."""
