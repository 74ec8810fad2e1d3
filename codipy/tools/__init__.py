# SPDX-License-Identifier: Apache-2.0
"""What people call instead of handling a tape themselves: derivatives of functions, and comparisons of strategies."""
from codipy.tools.arguments.trees import value as value
from codipy.tools.comparison.compare import compare as compare
from codipy.tools.derivatives.drivers import grad as grad
from codipy.tools.derivatives.drivers import value_and_grad as value_and_grad
from codipy.tools.derivatives.jacobian import jacobian as jacobian
from codipy.tools.derivatives.primitive import primitive as primitive
from codipy.tools.derivatives.products import jvp as jvp
from codipy.tools.derivatives.products import linearize as linearize
from codipy.tools.derivatives.products import vjp as vjp
from codipy.tools.derivatives.second import gradient_and_hvp as gradient_and_hvp
from codipy.tools.derivatives.second import hessian as hessian
from codipy.tools.derivatives.second import hvp as hvp
from codipy.tools.derivatives.sparsity import hessian_sparsity as hessian_sparsity
from codipy.tools.derivatives.sparsity import sparsity as sparsity
from codipy.tools.derivatives.taylor import taylor as taylor
from codipy.tools.pool import clear_tapes as clear_tapes
