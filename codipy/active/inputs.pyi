# SPDX-License-Identifier: Apache-2.0
"""Arrays as inputs and outputs of a recording, and their gradients."""
