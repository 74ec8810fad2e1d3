# SPDX-License-Identifier: Apache-2.0
"""A recording as plain data: what it is made of, taken apart, verified and put together."""
