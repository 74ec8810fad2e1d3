# SPDX-License-Identifier: Apache-2.0
"""Values of Arrays on the tape: new ones for inputs, and those that a replay computed."""
