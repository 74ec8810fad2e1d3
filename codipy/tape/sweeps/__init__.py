# SPDX-License-Identifier: Apache-2.0
"""The walk over streams and records that all sweeps share."""
