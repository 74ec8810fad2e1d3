# SPDX-License-Identifier: Apache-2.0
"""One run of a function on a tape, whatever forms its arguments and results have, and sweeps between the two."""
from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from codipy.active import Real
from codipy.active.adjoints import seed_units
from codipy.active.array import Array, gather, identifiers, is_active, is_complex_variable, plain
from codipy.active.bulk import all_floats, as_float, register_floats
from codipy.active.doors import door
from codipy.active.inputs import take_gradients
from codipy.active.scalar.kinds import converted
from codipy.errors import ActiveError
from codipy.tools.arguments.aliases import demand_apart
from codipy.tools.arguments.forms import rebuild
from codipy.tools.arguments.leaves import as_array, is_complex, shape_of
from codipy.tools.arguments.lending import Lending
from codipy.tools.arguments.parts import depends, identifiers_of_parts, inputs_of_parts, parts_of, whole
from codipy.tools.arguments.trees import labelled, plain_copy
from codipy.tools.callee import check_result, name_of
from codipy.tools.swallowed import demand_none_swallowed, said_before

__all__ = ["ForwardRun", "Recording", "Units", "check_results", "demand_computed", "pull_arrays", "put_inputs",
           "register_leaves", "register_result", "value_and_gradient_of_arrays"]


def register_leaves(tape, leaves):
    """New inputs of a recording tape, one for each float or array."""
    return register_floats(tape, leaves) if all_floats(leaves) else [tape.register_input(leaf) for leaf in leaves]


def register_result(tape, result, f):
    """The result of f as an output of the tape; it must be one real number."""
    return tape.register_output(result if type(result) is Real else check_result(result, f))


def put_inputs(place, args, inputs):
    """Put the inputs into the arguments: at a position, in a list where one is there, at one for each, or by a call."""
    if type(place) is int:
        args[place] = inputs.copy() if type(args[place]) is list else inputs[0]
    elif type(place) is tuple:
        for position, x in zip(place, inputs):
            args[position] = x
    else:
        place(args, inputs)


def demand_computed(f, run, called, place, args, kwargs, leaves):
    """Raise if a result on which nothing was recorded is one that an earlier run has kept, see `codipy.implicit.kept`.

    Parameters
    ----------
    f, run, called : callable
        What messages call it, what was run, and what called that.
    place : int, tuple of int, Lending or callable
        See `put_inputs`.
    args, kwargs, leaves : list, dict, list
        The arguments of that run, and the values of the inputs.
    """
    if leaves:
        put = functools.partial(put_inputs, place.without if type(place) is Lending else place)
        door("computed")(f, run, called, put, args, kwargs, leaves)


def pull_arrays(tape, output, inputs):
    """What `codipy.active.bulk.pull_back` does for Reals: seed a Real with 1, sweep and read the inputs' adjoints."""
    _sweep_back(tape, output)
    return [x.gradient for x in inputs]


def _sweep_back(tape, output):
    tape.clear_adjoints()      # the function may have seeded and swept on its own account
    output.gradient = 1.0
    tape.evaluate()


def value_and_gradient_of_arrays(tape, f, args, kwargs, leaves, place, check, *_):
    """What `codipy.active.bulk.value_and_gradient` does for floats; `place` may be a position, or one for each leaf."""
    tape.set_active()
    try:
        inputs = [tape.register_input(leaf) for leaf in leaves]
        if type(place) is int:
            args[place] = inputs[0]
        elif type(place) is tuple:
            for position, x in zip(place, inputs):
                args[position] = x
        else:
            place(args, inputs)
        result = f(*args, **kwargs)
        demand_apart(f, args, kwargs, inputs, leaves, None, getattr(place, "twins", None))
        number = result if type(result) is Real else check(result, f)
        depends = is_active(number)
        output = tape.register_output(number)
    finally:
        tape.set_passive()
    _sweep_back(tape, output)
    return output.value, take_gradients(inputs), depends      # the tape is the driver's, and is reset next


_REAL = frozenset({Real, Array, float, int})


class Units(NamedTuple):
    """A seed that is 1 for one number in each of some directions, and else 0."""

    number: int         # of the leaf, the first that is seeded
    direction: int      # in which; the next number is seeded in the next one
    length: int

    def as_array(self, shape, width):
        """The same of a leaf of this shape as an array, of this shape followed by the width, or a number."""
        seed = np.zeros(shape + ((width,) if width > 1 else ()))
        first = self.number * width + self.direction
        seed.reshape(-1)[first:first + (self.length - 1) * (width + 1) + 1:width + 1] = 1.0
        return seed[()]


class Recording:
    """Inputs and outputs of one run, each registered.

    Parameters
    ----------
    tape : Tape
        Empty and passive.
    f : callable
        What to run; returns numbers and arrays in any form.
    args, kwargs : list, dict
        Its arguments; `args` is changed.
    leaves : list of float and ndarray
        The inputs' values.
    place : callable
        ``place(args, inputs)`` puts the inputs into the arguments.
    origins : list, optional
        For a tape with ``loans``, inside of another recording: what the caller has for the leaves, active or not.
    aux : list, optional
        Into which `f` puts what it gives beside its result.

    Attributes
    ----------
    inputs : list of Real and Array
        As many as leaves.
    outputs : list of Real, Array and None
        One for each leaf of the result, None for one that depends on nothing.
    shapes : list of tuple
        Of the outputs.
    result : object
        What the function returned, to know its form.
    value : object
        The same with plain numbers and arrays; with variables of the enclosing recording, where it depends on such.
    program : AdjointProgram or None
        What runs the sweeps, where the recording depends on variables of an enclosing one.
    inputs_at, outputs_at : list of ndarray or None
        Their identifiers, None of an output that depends on nothing; of a tape without ``loans`` there is none.
    aux : list
        What `f` gave beside its result, `aux` given; with a program as `value`.
    with_complex : bool
        Whether inputs and results may be complex.
    has_complex : bool
        Whether one of them is.
    """

    def __init__(self, tape, f, args, kwargs, leaves, place, origins=None, aux=None, with_complex=False):
        self.with_complex = with_complex
        self.tape, self.program, self.aux, self._origins = tape, None, aux, origins
        try:
            with tape:
                self._run(f, args, kwargs, leaves, place)
        except Exception as error:
            if (before := said_before(tape, error)) is not error:
                raise before from error
            raise
        demand_none_swallowed(tape)
        if origins is not None and (tape.loans or any(map(depends, origins))):
            self._replay(origins)

    def _run(self, f, args, kwargs, leaves, place):
        self.inputs = self._registered(leaves)
        if self.tape.loans is not None and self._origins is None and not self.with_complex:
            _demand_no_complex(self.inputs)
        self.inputs_at = [identifiers_of_parts(x) for x in self.inputs] if self.tape.loans is not None else None
        # f may overwrite an Array: the adjoint of an input is that of what was registered.
        place(args, self.inputs)
        self.result = f(*args, **kwargs)
        demand_apart(f, args, kwargs, self.inputs, leaves, self._origins, getattr(place, "twins", None))
        pairs = labelled(self.result, "result")
        self.shapes = [shape_of(leaf) for _, leaf in pairs]
        self.has_complex = self.with_complex and not all_floats(leaves) and any(map(is_complex, leaves))
        for path, leaf in pairs:
            if type(leaf) not in _REAL and (is_complex_variable(leaf) or np.iscomplexobj(leaf)):
                if not self.with_complex:
                    _check_number(leaf, path, f)
                self.has_complex = True
        # All are computed before any is registered: an expression that waits may read another output.
        computed = [_computed(leaf, path, f) for path, leaf in pairs]
        self.value = plain_copy(self.result)
        self.outputs = [None if leaf is None else self.tape.register_output(leaf) for leaf in computed]
        if self.inputs_at is not None and self._origins is None and not self.with_complex:
            _demand_no_complex(self.outputs)
        if self.inputs_at is not None:      # what is lent to this recording has identifiers only as long as it runs
            self._aux = [identifiers_of_parts(x) if depends(x) else None for _, x in labelled(self.aux, "aux")]
            self.outputs_at = [None if y is None else identifiers_of_parts(y) for y in self.outputs]
        self.result = self.value      # the Array of an argument that f filled may not be kept

    def _registered(self, leaves):
        return register_leaves(self.tape, leaves)

    def _is_replayed(self, seeds):
        """Whether operations sweep, and not the tape: where something outside is a variable, be it a seed."""
        if self.program is None and any(map(depends, seeds)):
            if self._origins is None:
                raise ActiveError("a tangent or cotangent is a variable of a recording that began after this function "
                                  "ran: call codipy.vjp, jvp or linearize inside of what is differentiated")
            self._replay(self._origins)
        return self.program is not None

    def _replay(self, origins):
        """Run the recording again on the one that encloses it: values, and then sweeps, are variables of that."""
        from codipy.nested import AdjointProgram  # here: a script without nested derivatives imports none of it

        pairs = [pair for ids, leaf in zip(self.inputs_at, origins) for pair in inputs_of_parts(ids, leaf)]
        self.program = AdjointProgram(self.tape, [
            (int(ids) if not ids.ndim else int(ids.min()), _as_numbered(leaf, ids)) for ids, leaf in pairs if ids.size])
        self.value = self._replayed(self.value, self.outputs_at)
        self.aux = self._replayed(self.aux, self._aux)

    def _replayed(self, tree, places):
        """A tree with what the enclosing recording has for those leaves of which the identifiers are given."""
        leaves = []
        for ids, (_, leaf) in zip(places, labelled(tree, "result")):
            if ids is not None:
                leaf = leaf.value if is_complex_variable(leaf) else plain(leaf)
                like = parts_of(leaf)
                constants = np.asarray(like, np.float64)[ids == 0] if np.ndim(ids) else ()
                leaf = whole(self._exact(self.program.values.several(ids, constants), like), leaf)
            leaves.append(leaf)
        return rebuild(tree, leaves)

    @staticmethod
    def _shown(found, like):
        """What was found for a leaf, as the number or array that it stands for, which is the caller's."""
        if isinstance(like, np.ndarray):
            return as_array(found).copy()
        return converted(found, float) if type(found) is Real and type(like) is float else found

    @classmethod
    def _exact(cls, found, like):
        """The same with the values that the function computed: operations that run again may round otherwise."""
        moved = np.where(plain(found) == like, 0.0, like - np.asarray(plain(found)))
        if np.any(moved != 0.0) and np.all(np.isfinite(moved)):
            found = found + (moved if moved.ndim else moved[()])
        if getattr(like, "dtype", None) == np.float32 and is_active(found):
            found = converted(found, np.float32) if type(found) is Real else found.astype(np.float32)
        return cls._shown(found, like)

    def identifiers(self):
        """Those of all numbers of the inputs, as they were registered, and of the outputs: 0 for what is passive.

        Of a tape with ``loans``.
        """
        outputs = [np.zeros(math.prod(shape), np.int32) if ids is None else ids.ravel()
                   for ids, shape in zip(self.outputs_at, self.shapes)]
        return tuple(np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32, copy=False)
                     for parts in ([ids.ravel() for ids in self.inputs_at], outputs))

    def rebuild(self, leaves):
        """The form of the result with other leaves."""
        return rebuild(self.result, leaves)

    def reverse(self, adjoints, seeds):
        """Seed the outputs, sweep back and read the inputs.

        Parameters
        ----------
        adjoints : Adjoints
            Of the tape, all zero, in `width` directions.
        seeds : list
            One for each output, of its shape followed by the width (by nothing, if that is 1); None for zeros; or, of
            a recording that is not replayed, `Units`.

        Returns
        -------
        list
            One for each input, of its shape followed by the width.
        """
        if self._is_replayed(seeds):
            return self._through(self.program.pull, self.outputs_at, seeds, self.inputs_at, self.inputs)
        self._seed(adjoints, self.outputs, seeds)
        self.tape.evaluate(adjoints=adjoints)
        return [_read(adjoints, x) for x in self.inputs]

    def forward(self, adjoints, seeds):
        """Seed the inputs, sweep forward and read the outputs: the mirror of `reverse`."""
        if self._is_replayed(seeds):
            likes = [leaf for _, leaf in labelled(self.value, "result")]
            return self._through(self.program.push, self.inputs_at, seeds, self.outputs_at, likes)
        self._seed(adjoints, self.inputs, seeds)
        self.tape.evaluate_forward(adjoints=adjoints)
        width = (adjoints.width,) if adjoints.width > 1 else ()
        return [_zeros(shape + width) if y is None else _read(adjoints, y)
                for y, shape in zip(self.outputs, self.shapes)]

    def _through(self, sweep, seeded, seeds, read, likes):
        """A sweep of the program, one direction, from the identifiers that are seeded to those that are read."""
        found = sweep([(ids, _as_seed(seed, ids)) for ids, seed in zip(seeded, seeds)
                       if ids is not None and seed is not None], read)
        shown = []
        for x, like in zip(found, likes):
            like = like.value if is_complex_variable(like) else plain(like)
            parts = parts_of(like)
            shown.append(whole(self._shown(_zeros(np.shape(parts)) if x is None else x, parts), like))
        return shown

    @staticmethod
    def _seed(adjoints, variables, seeds):
        for variable, seed in zip(variables, seeds):
            if variable is not None and seed is not None:
                if type(seed) is Units:
                    seed_units(adjoints, variable, *seed)
                elif is_complex_variable(variable):
                    for part, one in zip(_parts(variable), (np.real(seed), np.imag(seed))):
                        if part.is_active:
                            adjoints[part] = adjoints[part] + one
                else:      # added: the function may return one variable twice
                    adjoints[variable] = seed if len(variables) == 1 else adjoints[variable] + seed


class ForwardRun(Recording):
    """One run on a tape of strategy 'forward': seeds are there before it, and tangents when it is over.

    Parameters
    ----------
    seeds : list
        One for each input, of its shape followed by the tape's width (by nothing, if that is 1); None for zeros. Of a
        complex input complex numbers, or with an axis for both parts before the width.
    *args, **kwargs
        As of `Recording`.

    Attributes
    ----------
    tangents : list
        One for each leaf of the result, of its shape followed by the width.
    """

    def __init__(self, seeds, *args, **kwargs):
        self._seeds = seeds
        super().__init__(*args, **kwargs)
        width = self.tape.parameters["width"]
        directions = (width,) if width > 1 else ()
        self.tangents = [_zeros(shape + directions) if y is None else _tangent(y, directions)
                         for y, shape in zip(self.outputs, self.shapes)]

    def _registered(self, leaves):
        inputs = super()._registered(leaves)
        for x, seed in zip(inputs, self._seeds):
            if seed is not None and is_complex_variable(x) and np.ndim(seed) == len(shape_of(x)) + 2:
                _set_parts(x, seed)
            elif seed is not None:
                x.tangent = seed
        return inputs


def _set_parts(z, seed):
    """The tangents of both parts of a complex variable, which have an axis of their own behind those of its shape."""
    if hasattr(z, "pairs"):
        z.pairs.tangent = seed
    else:
        z.real.tangent, z.imag.tangent = seed


def _parts(z):
    """The real and the imaginary part of a complex variable, each with a slot of its own for every number."""
    return z.real, z.imag


def _read(adjoints, x):
    """What stands in the slots of a variable; of a complex one as complex numbers."""
    if not is_complex_variable(x):
        return adjoints[x]
    width = (adjoints.width,) if adjoints.width > 1 else ()
    real, imag = (adjoints[part] if part.is_active else _zeros(np.shape(part.value) + width) for part in _parts(x))
    return real + 1j * imag


def _tangent(y, directions):
    """The tangent of a result of strategy 'forward'."""
    if not is_complex_variable(y) or not directions:
        return y.tangent
    real, imag = (part.tangent if part.is_active else _zeros(np.shape(part.value) + directions) for part in _parts(y))
    return real + 1j * imag


def _zeros(shape):
    """The derivative of what depends on nothing: a float of a number, as others are."""
    return np.zeros(shape) if shape else 0.0


def _as_seed(seed, ids):
    """A seed of complex numbers as one of their parts."""
    if np.ndim(ids) == np.ndim(plain(seed)) and not (is_complex_variable(seed) or np.iscomplexobj(seed)):
        return seed
    seed = seed if is_complex_variable(seed) or np.iscomplexobj(seed) else seed + 0j
    return parts_of(seed)


def _demand_no_complex(variables):
    if any(map(is_complex_variable, variables)):
        raise ActiveError("inside of another recording, drivers take and give real numbers only: pass the real and the "
                          "imaginary part, and return z.real and z.imag")


def _as_numbered(leaf, ids):
    """An array in the order of its identifiers, which is that of its memory: Fortran's, as likely as that of C."""
    if ids.size == 1 or np.all(np.diff(ids.reshape(-1)) > 0):
        return leaf
    return np.reshape(leaf, (-1,))[np.argsort(ids, axis=None)]


def check_results(result, f):
    """The leaves of a result, all of them plain numbers or arrays of numbers; else an error that names the leaf."""
    pairs = labelled(result, "result")
    for path, leaf in pairs:
        _check_number(leaf, path, f)
    return [leaf for _, leaf in pairs]


def _computed(leaf, path, f):
    """A leaf of a result, without anything that waits; None if it is passive."""
    if isinstance(leaf, np.ndarray) and leaf.dtype == object:
        leaf = _gathered(leaf, path, f)
    if type(leaf) is Array and leaf.is_active and leaf.size:  # without elements nothing depends on anything
        # A copy: an input that was overwritten, and its views, stand for the adjoints of what was registered.
        return leaf.copy()
    if type(leaf) is Real and leaf.is_active:
        return leaf
    if is_complex_variable(leaf) and leaf.is_active and getattr(leaf, "size", 1):
        return leaf.copy() if hasattr(type(leaf), "copy") else leaf
    _check_number(leaf, path, f, True)
    return None


def _check_number(leaf, path, f, with_complex=False):
    if with_complex and (is_complex_variable(leaf) or np.iscomplexobj(leaf)):
        return
    if isinstance(leaf, np.ndarray):
        fits, said = leaf.dtype.kind in "biuf", f"an ndarray of dtype {leaf.dtype}"
    else:
        fits = type(leaf) in (Real, Array, bool, np.bool_) or as_float(leaf) is not None
        said = type(leaf).__name__
    if not fits:
        raise TypeError(f"{name_of(f)} must return real numbers and arrays, in lists, tuples, dicts and dataclasses, "
                        f"got {said} as {path}")


def _gathered(array, path, f):
    """An object array of numbers and Reals, as NumPy makes them of Reals, as one Array."""
    for item in array.flat:
        if type(item) is not Real and as_float(item) is None:
            raise TypeError(f"{name_of(f)} must return real numbers and arrays, got an array with a "
                            f"{type(item).__name__} in it as {path}")
    values = np.array([plain(item) for item in array.flat], np.float64).reshape(array.shape)
    places = np.array([identifiers(item) for item in array.flat], np.int32).reshape(array.shape)
    return gather(values, places) if places.any() else values
