# SPDX-License-Identifier: Apache-2.0
"""What people call instead of handling a tape themselves: derivatives of functions, and comparisons of strategies."""
from codipy.tools.compare import compare as compare
from codipy.tools.drivers import grad as grad
from codipy.tools.drivers import value_and_grad as value_and_grad
from codipy.tools.jacobian import jacobian as jacobian
from codipy.tools.pool import clear_tapes as clear_tapes
from codipy.tools.primitive import primitive as primitive
from codipy.tools.products import jvp as jvp
from codipy.tools.products import linearize as linearize
from codipy.tools.products import vjp as vjp
from codipy.tools.second import gradient_and_hvp as gradient_and_hvp
from codipy.tools.second import hessian as hessian
from codipy.tools.second import hvp as hvp
from codipy.tools.sparsity import hessian_sparsity as hessian_sparsity
from codipy.tools.sparsity import sparsity as sparsity
from codipy.tools.taylor import taylor as taylor
from codipy.tools.trees import value as value
