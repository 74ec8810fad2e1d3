# SPDX-License-Identifier: Apache-2.0
"""One sweep over a tape: its range, and what may not happen meanwhile."""
