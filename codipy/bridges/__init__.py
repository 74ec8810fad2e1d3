# SPDX-License-Identifier: Apache-2.0
"""Functions that go to other packages with their derivatives, and come from them: one file for each package.

None of them is imported before its bridge is used.
"""
from codipy.bridges.ipopt import nlp as nlp
from codipy.bridges.jax import from_jax as from_jax
from codipy.bridges.jax import to_jax as to_jax
from codipy.bridges.pytensor import to_pytensor as to_pytensor
from codipy.bridges.torch import from_torch as from_torch
from codipy.bridges.torch import to_torch as to_torch

