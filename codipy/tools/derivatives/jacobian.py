# SPDX-License-Identifier: Apache-2.0
"""Jacobians: one recording, then sweeps that carry several directions, backwards or forwards as there are fewer."""
from __future__ import annotations

import itertools
import math

from codipy.errors import ActiveError, UndifferentiableError
from codipy.tools.arguments.choice import Choice
from codipy.tools.arguments.leaves import is_complex, shape_of, stack
from codipy.tools.callee import check_function, name_of, rebound
from codipy.tools.driver import Driver
from codipy.tools.pool import check_settings
from codipy.tools.rebinding.filled import with_own_arrays
from codipy.tools.runs.columns import WIDEST, matrix_of, units
from codipy.tools.runs.recording import ForwardRun
from codipy.tools.runs.run import Run

__all__ = ["jacobian"]

_MODES = ("auto", "reverse", "forward")


def jacobian(f, argnums=None, *, argnames=None, has_aux=False, mode="auto", width=None, sparsity=None, strategy="auto",
             granularity=None, rebind=True):
    """The Jacobian of a function: the derivatives of each number of its result by each of its argument.

    Parameters
    ----------
    f : callable
        Returns numbers and arrays, in lists, tuples, dicts and dataclasses, real or complex; see `grad` for its
        arguments.
    argnums, argnames : optional
        Which arguments are differentiated by: see `grad`.
    has_aux, rebind : bool
        See `grad`.
    mode : str
        ``"reverse"``: sweeps run backwards, one direction for each number of the result; ``"forward"``: forwards, one
        for each of the argument; ``"auto"``: what has fewer directions. Forwards in up to 16 directions, which are no
        more than `width`, nothing is recorded; with ``strategy="forward"`` in any number of them.
    width : int, optional
        How many directions a sweep carries; default is up to 16, as far as memory goes, more where adjoints are few.
        With ``strategy="forward"``, which carries all in the one run, no fewer than there are.
    sparsity : Sparsity, Colouring, matrix or True, optional
        Which elements can be other than zero: what `codipy.sparsity` found, a colouring of that, a sparse matrix of
        SciPy or an array that is not zero there. True: found at the first call and kept; the driver's `colouring` has
        it.
    strategy, granularity : str, optional
        See `grad`.

    Returns
    -------
    callable
        Takes the arguments of `f` and returns the form of its result, with the form of the argument (as `grad` returns
        it) in the place of each leaf, and there an array of the shape of the result's leaf followed by that of the
        argument's; a float where both are numbers. With `has_aux`, a pair of that and the second result.
        By complex numbers z = a + ib it is df/da + i df/db of a real result, as `grad` gives it, and the complex
        derivative of a complex result.
        With `sparsity` all are real, and there are sparse arrays of SciPy (``csr_array``) with two axes instead: the
        numbers of the one leaf, in the order of C, and those of the other; a list or tuple of numbers counts as one
        leaf.

    Raises
    ------
    TypeError
        From the returned function: see `vjp`; with `sparsity` for complex numbers, too.
    ValueError
        If there is no such mode, `width` is no positive number, or `strategy` is ``"forward"`` and the mode another;
        from the returned function, if `width` is too small for that strategy, if `sparsity` is of another shape, or
        lacks an element that is not zero, and if a complex result has no complex derivative by a complex argument: the
        equations of Cauchy and Riemann are looked at.

    Notes
    -----
    `f` runs once. With `sparsity`, directions are as many as the pattern has colours, and two more, along which the
    result is checked: what the pattern lacks is an error, or, with True, added to it.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> codipy.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    >>> codipy.jacobian(lambda x: {"product": x[0] * x[1]})([2.0, 3.0])
    {'product': [3.0, 2.0]}
    """
    check_function(f, "jacobian")
    if mode not in _MODES:
        raise ValueError(f"unknown mode {mode!r}: choose one of {', '.join(map(repr, _MODES))}")
    check_settings((strategy, granularity), mode == "forward")
    if width is not None and (isinstance(width, bool) or not isinstance(width, int) or width < 1):
        raise ValueError(f"width must be a positive whole number, got {width!r}")
    options = {"argnums": argnums, "argnames": argnames, "has_aux": has_aux, "mode": mode, "width": width,
               "sparsity": sparsity, "strategy": strategy, "granularity": granularity, "rebind": rebind}
    is_sparse = sparsity is not None and sparsity is not False
    return Jacobian(f, options, Choice(argnums, argnames, with_complex=not is_sparse))


class Jacobian(Driver):
    """What `jacobian` returns."""

    def __init__(self, f, options, choice):
        super().__init__(jacobian, f, options, f"Jacobian of {name_of(f)} by {choice}.")
        self._choice, self._run, self._compressed = choice, None, None
        if options["sparsity"] is not None and options["sparsity"] is not False:
            from codipy.tools.derivatives.compressed import Compressed  # not at import: seldom used

            if options["strategy"] == "forward":
                raise ValueError("sparsity= needs a recording to sweep over, and strategy='forward' keeps none: choose "
                                 "another strategy")
            self.compress(Compressed(options["sparsity"], options["mode"], options["width"]), self._pattern)

    def compress(self, compressed, pattern):
        """Find only what can be other than zero; ``pattern(args, kwargs)`` says it of the matrix at some arguments."""
        self._compressed, self._found = compressed, pattern

    @property
    def colouring(self):
        """The colouring of a sparse Jacobian; None before it is found, and without `sparsity`."""
        return None if self._compressed is None else self._compressed.colouring

    def _pattern(self, args, kwargs):
        from codipy.tools.derivatives.sparsity import jacobian_pattern

        return jacobian_pattern(self._choice, self._run, self.f, args, kwargs, self.options["has_aux"])

    def __call__(self, *args, **kwargs):
        return self.at(args, kwargs)

    def at(self, args, kwargs):
        """The same for arguments that another driver was called with: one call more would have references to them."""
        choice, options = self._choice, self.options
        if self._run is None:
            self._run = rebound(self.f) if options["rebind"] else self.f
        settings, has_aux = (options["strategy"], options["granularity"]), options["has_aux"]
        others = with_own_arrays(self._run, args, kwargs) if self._compressed is not None else None
        with Run(self.f, self._run, choice, args, kwargs, has_aux, settings, seeded=self._seeds, kind="object") as run:
            def give(blocks):
                return choice.give(run.trees, run.leaves, blocks)

            if self._compressed is not None:
                result = self._sparse(run, others)
            elif run.recording.has_complex:
                if run.program is not None:
                    raise ActiveError("inside of another recording jacobian takes and gives real numbers only: pass "
                                      "the real and the imaginary part, and return z.real and z.imag; or take vjp or "
                                      "jvp")
                from codipy.tools.derivatives.holomorphic import complex_blocks

                rows = complex_blocks(run.recording, run.leaves, options["mode"], options["width"], name_of(self.f))
                numbers = [0.0] * len(run.leaves)      # blocks have their dtypes
                result = run.recording.rebuild([choice.give(run.trees, numbers, blocks) for blocks in rows])
            elif type(run.recording) is ForwardRun:
                columns = run.tape.parameters["width"]
                result = _in_form(stack(run.recording.tangents, columns), run.recording, run.leaves, give)
            elif run.program is None:
                matrix = matrix_of(run.recording, run.leaves, options["mode"], options["width"])
                result = _in_form(matrix, run.recording, run.leaves, give)
            else:
                from codipy.tools.runs.nested import jacobian_blocks  # not at import: seldom used

                rows = jacobian_blocks(run.recording, run.leaves, options["mode"])
                result = run.recording.rebuild([give(blocks) for blocks in rows])
            return (result, run.aux) if has_aux else result

    def _sparse(self, run, others):
        """With `others` for a run that finds the pattern."""
        from codipy.tools.derivatives.compressed import Sweeps, in_blocks

        if run.program is not None:
            raise UndifferentiableError("a sparse Jacobian is a SciPy array of numbers and cannot depend on what is "
                                        "differentiated outside: leave out sparsity=")
        with Sweeps(run.recording, run.leaves) as sweeps:
            matrix = self._compressed.matrix(sweeps, lambda: self._found(*others))
        return in_blocks(matrix, run.recording.result, run.trees, self._choice)

    def _seeds(self, trees, leaves):
        """Unit tangents for all numbers at once and how many those are; (None, None) where the function is recorded."""
        options = self.options
        if options["mode"] != "forward" or self._compressed is not None:
            return None, None
        # Parts of complex numbers are numbers by themselves.
        shapes = [shape_of(x) + (2,) if is_complex(x) else shape_of(x) for x in leaves]
        ends = list(itertools.accumulate(math.prod(shape) for shape in shapes))
        columns = ends[-1] if ends else 0
        if options["strategy"] == "forward" and options["width"] is not None and columns > options["width"]:
            raise ValueError(f"strategy='forward' carries all {columns} directions in the one run of "
                             f"{name_of(self.f)}: leave out width={options['width']}, or take another strategy, which "
                             "sweeps several times")
        at_once = options["strategy"] == "forward" or options["strategy"] == "auto" and columns <= (
            min(options["width"] or WIDEST, WIDEST))
        if not columns or not at_once:
            return None, None
        return [None if unit is None else unit.as_array(shape, columns)
                for unit, shape in zip(units(ends, range(columns)), shapes)], columns


def _in_form(matrix, recording, leaves, give):
    """The matrix cut into blocks, each in its place."""
    results, row = [], 0
    for shape in recording.shapes:
        rows, column, blocks = math.prod(shape), 0, []
        for leaf in leaves:
            columns = math.prod(shape_of(leaf))
            block = matrix if matrix.shape == shape + shape_of(leaf) and matrix.flags.c_contiguous else (
                matrix[row:row + rows, column:column + columns].reshape(shape + shape_of(leaf)))
            blocks.append(float(block) if not block.ndim else block if block is matrix else block.copy())
            column += columns
        results.append(give(blocks))
        row += rows
    return recording.rebuild(results)
