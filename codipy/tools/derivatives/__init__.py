# SPDX-License-Identifier: Apache-2.0
"""The drivers: gradients, Jacobians, second and higher derivatives, products, patterns, own rules."""
