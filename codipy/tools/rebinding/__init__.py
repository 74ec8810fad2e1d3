# SPDX-License-Identifier: Apache-2.0
"""How functions are rebuilt with globals of their own: the machinery behind `codipy.rebind`."""
