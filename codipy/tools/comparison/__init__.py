# SPDX-License-Identifier: Apache-2.0
"""One function under every strategy: what it costs, and whether the gradients agree."""
