# SPDX-License-Identifier: Apache-2.0
"""Components of OpenMDAO whose partial derivatives come from a NumPy function."""
from __future__ import annotations

from typing import Any

import numpy as np

from codipy.bridges.needed import needed
from codipy.tools.derivatives.jacobian import jacobian

__all__ = ["ExplicitComponent", "ImplicitComponent"]

_api: Any = needed("openmdao.api", "openmdao", "openmdao")


class _Differentiated:
    """What both kinds of components share: arguments and results in the order of their declaration."""

    def setup_partials(self):
        """Declare all partial derivatives."""
        self.declare_partials("*", "*")

    def compute_primal(self, *values):
        """Override: NumPy code, from inputs (and states) in the order of their declaration, to a value or a tuple."""
        raise NotImplementedError(f"{type(self).__name__} has no compute_primal(self, ...): it says what is computed")

    @property
    def _results(self):
        return list(self._var_rel_names["output"])

    def _compute(self, values, found):
        """Put what `compute_primal` returns in its places."""
        results, names = self.compute_primal(*map(np.array, values)), self._results
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(names):
            raise ValueError(f"compute_primal of {type(self).__name__} returned {len(results)} values for "
                             f"{len(names)} outputs: {', '.join(names)}")
        for name, result in zip(names, results):
            found[name] = result

    def _fill(self, partials, names, values):
        """The derivatives of each result by each argument."""
        rows = jacobian(self.compute_primal, tuple(range(len(names))))(*map(np.array, values))
        results = self._results
        for result, row in zip(results, [rows] if len(results) == 1 and not isinstance(rows[0], tuple) else rows):
            for name, value, block in zip(names, values, row):
                partials[result, name] = np.reshape(block, (-1, np.size(value)))


class ExplicitComponent(_Differentiated, _api.ExplicitComponent):
    """A component that computes outputs; override `setup`, and `compute_primal` in the place of `compute`."""

    def compute(self, inputs, outputs, discrete_inputs=None, discrete_outputs=None):
        """The outputs."""
        self._compute([inputs[name] for name in self._var_rel_names["input"]], outputs)

    def compute_partials(self, inputs, partials, discrete_inputs=None):
        """The derivatives of each output by each input."""
        names = list(self._var_rel_names["input"])
        self._fill(partials, names, [inputs[name] for name in names])


class ImplicitComponent(_Differentiated, _api.ImplicitComponent):
    """A component with residuals; override `setup`, and `compute_primal`, from inputs and states to residuals."""

    def apply_nonlinear(self, inputs, outputs, residuals, discrete_inputs=None, discrete_outputs=None):
        """The residuals."""
        self._compute(self._values(inputs, outputs), residuals)

    def linearize(self, inputs, outputs, jacobian, discrete_inputs=None, discrete_outputs=None):
        """The derivatives of each residual by each input and state."""
        self._fill(jacobian, [*self._var_rel_names["input"], *self._results], self._values(inputs, outputs))

    def _values(self, inputs, outputs):
        return [inputs[name] for name in self._var_rel_names["input"]] + [outputs[name] for name in self._results]
