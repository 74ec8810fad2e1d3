# SPDX-License-Identifier: Apache-2.0
"""The tape that people use: it joins recording and sweeps with variables."""
import numpy as np

from libc.stdint cimport int32_t
from libc.stdlib cimport malloc, free
from cpython.object cimport PyObject
cimport cython

from codipy.active.adjoints cimport Adjoints
from codipy.active.core.base_array cimport BaseArray, is_array
from codipy.active.core.base_real cimport IS_INPUT, IS_OUTPUT, MERGED, OF_INPUT, OWNS, described
from codipy.active.inputs cimport output_array, register_array
from codipy.active.primals cimport demand_known, get_values, set_values
from codipy.active.registered cimport Registered
from codipy.active.scalar.expression cimport as_number, identify, make_passive, readmit
from codipy.active.scalar.kinds cimport kind_of
from codipy.active.scalar.real cimport Real, new_identified
from codipy.tape.activity cimport unregister_tape
from codipy.tape.base cimport BaseTape, is_of_variables
from codipy.tape.provenance.watching cimport watcher
from codipy.tape.recorder cimport Entry
from codipy.tape.strategies.simple cimport is_unknown

from codipy.active.doors import door
from codipy.errors import TapeError
from codipy.tape.signatures import Signature

cdef object ndarray = np.ndarray      # looked up once


cdef bint is_complex(object x) except -1:
    """Whether it is an active or a plain complex number or array, of which each part is registered."""
    return getattr(type(x), "is_complex_variable", False) is True or np.iscomplexobj(x)


@cython.no_gc_clear
cdef class Tape(BaseTape):
    """Tape(strategy='auto', granularity=None, chunk_size=None, *, skip_zero_jacobians=True, skip_invalid_jacobians=False, width=None)
    --

    Records what runs on Reals and Arrays inside ``with tape:`` and sweeps it backwards or forwards.

    Parameters
    ----------
    strategy : {'auto', 'simple', 'jacobian', 'jacobian-reuse', 'primal', 'primal-reuse', 'forward'}
        What a statement stores and how identifiers are handed out. 'auto' is what measures best for scalars. 'forward'
        stores nothing: tangents are computed with the values, from ``x.tangent`` of inputs to that of results.
    granularity : {'statement', 'operation'}, optional
        Whether a whole expression or each operation is one statement. Default 'statement'; 'simple' records
        operations only.
    chunk_size : int, optional
        Items per chunk of each data stream. By default chunks start small and grow.
    skip_zero_jacobians : bool
        Do not store Jacobians that are 0 (Jacobian strategies).
    skip_invalid_jacobians : bool
        Do not store Jacobians that are NaN or infinite (Jacobian strategies). Off: they show in the gradient.
    width : int, optional
        Directions that a tape of strategy='forward' carries at once; default 1.

    Raises
    ------
    TypeError, ValueError
        A strategy, a granularity or a size of chunks that there is not, or the two first together.
    MemoryError
        No memory for the first chunks.

    Notes
    -----
    The strategies, and the names of what a tape does, are those of CoDiPack: M. Sagebaum, T. Albring and N. R. Gauger,
    *High-Performance Derivative Computations using CoDiPack*, ACM Transactions on Mathematical Software 45(4), 2019.

    Examples
    --------
    >>> import codipy
    >>> tape = codipy.Tape(strategy="primal")
    >>> with tape:
    ...     a, b = tape.register_input(3.0), tape.register_input(4.0)
    ...     c = tape.register_output(a * b)
    >>> c.gradient = 1.0
    >>> tape.evaluate()
    >>> a.gradient, b.gradient
    (4.0, 3.0)
    """
    __signature__ = Signature()

    def __cinit__(self, *_, **options):
        self.registered_inputs, self.registered_outputs = Registered(), Registered()
        self.registered_outputs.holds = True
        self.registers = not self.recorder.carries
        self.positions = ()

    def __dealloc__(self):
        unregister_tape(self.serial)         # what was registered dies after this, and must not find a tape that is gone

    cdef int forget_all(self) except -1:
        self.registered_inputs.forget()
        self.registered_outputs.forget()
        self.sealed, self.positions = False, ()
        if self.given is not None and self.recordings == 0:      # else what is lent is still to be given back
            self.given = self.loans = None
        return BaseTape.forget_all(self)

    def set_active(self):
        """Start or resume recording on this thread; recordings of different tapes nest.

        Raises
        ------
        TapeError
            If the tape records on another thread, or was loaded from a file.
        """
        if self.sealed:
            raise TapeError("this tape was made of a recording that is complete, a file's say, and nothing can be recorded "
                            "behind it: record on another tape, or call reset() first")
        if self.given is not None:
            raise TapeError("a nested recording is made at once: call reset() first, or take another tape")
        BaseTape.set_active(self)

    def nested(self, *inputs):
        """Record inside of another recording of this thread, with variables of that, for sweeps that it records too.

        Parameters
        ----------
        *inputs : number or array
            What to register as inputs, plain or variables of the enclosing recording, which stay what they are.

        Returns
        -------
        NestedRecording
            For a ``with`` statement, which gives the variables of this tape, a tuple with one for each of `inputs`. Other
            variables of the enclosing recording can be used too; no derivative by them is asked for, but what a recorded
            sweep gives depends on them. When the recording is over, ``evaluate(record=True)`` sweeps.

        Raises
        ------
        TapeError
            When it begins: if the tape is not empty, or its strategy is none but 'primal'. Sweeps that are not recorded
            raise too, since they would lose the derivative by what the enclosing recording has.

        Examples
        --------
        A gradient as a variable, and its derivative:

        >>> import codipy
        >>> tape, inner = codipy.Tape(), codipy.Tape(strategy="primal")
        >>> with tape:
        ...     x = tape.register_input(2.0)
        ...     with inner.nested(x) as (u,):
        ...         y = inner.register_output(u**3)
        ...     y.gradient = 1.0
        ...     slope = tape.register_output(inner.evaluate(record=True)[u])
        >>> slope.value
        12.0
        >>> slope.gradient = 1.0
        >>> tape.evaluate()
        >>> x.gradient
        12.0
        """
        return door("nested")(self, inputs)

    cdef int demand_own_numbers(self) except -1:
        if self.given is not None:
            raise TapeError("this tape was recorded by nested(), with variables of an enclosing recording, and a sweep over "
                            "numbers would lose the derivative by them: tape.evaluate(record=True)")
        return 0

    cdef object sweep_recorded(self, adjoints, bint backwards):
        if adjoints is None:
            adjoints = door("recorded")(self)
            adjoints.take_seeds()
        elif not is_of_variables(adjoints):
            raise TypeError("adjoints of a sweep that is recorded come from tape.new_adjoints(record=True), got "
                            f"{type(adjoints).__name__}")
        adjoints.sweep(self, backwards)
        return adjoints

    @property
    def inputs(self):
        """tuple of Real and Array: what ``register_input`` made variables of, in order.

        They are variables of their own on the same adjoint slots, with the values that were registered, so it does not
        matter what became of yours. A reset to a position takes those of after it away.

        Raises
        ------
        TapeError
            On a tape of strategy 'forward', which keeps nothing.

        Examples
        --------
        >>> import codipy, numpy as np
        >>> tape = codipy.Tape()
        >>> with tape:
        ...     x = tape.register_input(np.array([1.0, 2.0]))
        ...     y = tape.register_output((x * x).sum())
        >>> tape.outputs[0].gradient = 1.0
        >>> tape.evaluate()
        >>> tape.inputs[0].gradient
        array([2., 4.])
        """
        self.demand_recorded("tape.inputs")
        return self.registered_inputs.variables(self)

    @property
    def outputs(self):
        """tuple of Real and Array: what was given to ``register_output``, in order, each once.

        As ``inputs``. The slot of an output is its own until the reset, also where identifiers are reused and your
        variable is gone. What was never registered is not held. An output that depends on nothing has the value alone.
        """
        self.demand_recorded("tape.outputs")
        return self.registered_outputs.variables(self)

    def save(self, path, *, primitives=(), positions=()):
        """Write the recording to a file, which ``codipy.load_tape(path)`` reads without the program that recorded it.

        The file appears when it is whole: what was at `path` before stays until then. It keeps the permissions of that; of
        a link, what it leads to is written.

        Parameters
        ----------
        path : path-like
            Where to.
        primitives : iterable of Primitive, optional
            Those of yours that were recorded; who loads the file has to give them too.
        positions : iterable of TapePosition, optional
            Positions of this tape that the loaded one shall have in its ``positions``, for sweeps over parts of it.

        Raises
        ------
        TapeError
            On a tape of strategy 'forward', while the tape records, after an ``evaluate_primal()`` that failed, and where a
            primitive is none that can be found by its name, or keeps what a file cannot hold.
        OSError
            If the file cannot be written.

        Examples
        --------
        See ``codipy.load_tape``.
        """
        door("save")(self, path, primitives, positions)

    def __reduce__(self):
        raise TypeError("a Tape cannot be pickled or copied: write it with tape.save(path), and read it with "
                        "codipy.load_tape(path)")

    def check(self):
        """Verify every invariant of the recording, slowly, by other means than the sweeps'.

        Raises
        ------
        CorruptTape
            Naming the broken invariant. Then no number of this tape is to be trusted; please report it.
        """
        from codipy.tape.contents.dissect import contents_of
        from codipy.tape.contents.sound import demand_sound
        self._check()
        if not self.recorder.carries and not self.recorder.counts:
            demand_sound(contents_of(self))

    def register_input(self, x):
        """Make a variable an input: an independent variable with an identifier of its own.

        Parameters
        ----------
        x : Real, float, Array or ndarray
            A Real or an Array becomes active in place; of a number a new Real is made, of an array a new Array.

        Returns
        -------
        Real or Array
            The active variable.

        Raises
        ------
        TapeError
            If the tape is not recording on this thread.
        TypeError
            If `x` is no real number, nor an array of real numbers.
        """
        cdef double number
        cdef int32_t identifier
        cdef BaseArray array
        if is_array(x) or isinstance(x, ndarray) and x.dtype.kind != "c":
            array = register_array(self, x)
            if self.registers:
                self.registered_inputs.make_room(self, 1)
                self.registered_inputs.add_array(self, array)
            if watcher is not None:
                watcher.input(self, array)
            return array
        if type(x) is not Real:
            if is_complex(x):
                return door("complexes")().register_input(self, x)
            if as_number(<PyObject*>x, &number) != 1:
                raise TypeError(f"x: an input must be a Real or a real number, got {type(x).__name__}")
            x = Real(x)
        cdef Real variable = x
        self.registered_inputs.make_room(self, 1)        # now: what was called so far may have registered others
        identifier = self.new_input(variable.primal)
        make_passive(variable)
        variable.identifier, variable.epoch = identifier, self.recorder.epoch
        variable.flags = IS_INPUT | OF_INPUT | (OWNS if self.recorder.reuse else 0)
        variable.made = self.recorder.steps      # see Forward; 0 elsewhere
        if self.registers:
            self.registered_inputs.add_real(self, variable)
        return variable

    def register_output(self, y):
        """Give a result an identifier of its own, so that it can be seeded and read.

        Parameters
        ----------
        y : Real, float or Array
            A Real or an Array in place (an input, or an output registered before, is left as it is); of a number, or
            of a passive Real, an output that depends on nothing. A passive Array stays passive.

        Returns
        -------
        Real or Array
            The output.

        Raises
        ------
        TapeError
            If the tape is not recording on this thread, or `y` belongs to another tape or recording.
        """
        cdef double number
        cdef int32_t identifier, source = 0
        if watcher is not None:
            watcher.output(self, y)
        if is_array(y):
            y = output_array(self, y)
            if self.registers:
                self.registered_outputs.make_room(self, 1)
                self.registered_outputs.add_array(self, y)
            return y
        if type(y) is not Real:
            if is_complex(y):
                return door("complexes")().register_output(self, y)
            if as_number(<PyObject*>y, &number) != 1:
                raise TypeError(f"y: an output must be a Real or a real number, got {type(y).__name__}")
            y = Real(y)
        cdef Real variable = y
        self.demand_recording("register_output()")
        self.registered_outputs.make_room(self, 1)
        if variable.epoch:
            readmit(&self.recorder, variable)
            if variable.count:
                identify(&self.recorder, variable)
                variable.flags &= ~MERGED
                if self.recorder.names_results:
                    variable.flags |= IS_OUTPUT
            if variable.flags & (IS_INPUT | IS_OUTPUT) or self.recorder.names_results:
                if self.registers:
                    self.registered_outputs.add_real(self, variable)
                return variable
            source = variable.identifier
        identifier = self.new_copy(source, variable.primal)
        make_passive(variable)
        variable.identifier, variable.epoch = identifier, self.recorder.epoch
        variable.flags = IS_OUTPUT | (OWNS if self.recorder.reuse else 0)
        if self.registers:
            self.registered_outputs.add_real(self, variable)
        return variable

    def push_statement(self, value, arguments, jacobians):
        """Record a statement made by hand: ``value`` with the given Jacobians.

        Parameters
        ----------
        value : float
            The value of the result.
        arguments : sequence of Real
            Any number; passive ones are left out.
        jacobians : sequence of float
            d value / d argument, one for each.

        Returns
        -------
        Real
            The result; passive if every argument is.

        Raises
        ------
        ValueError
            If the two sequences differ in length.
        TypeError
            If an argument is no Real or number, or a Jacobian no number.
        """
        cdef double number, primal
        cdef list inputs = list(arguments), numbers = list(jacobians)
        cdef Py_ssize_t i, count = 0
        cdef Real variable
        cdef int32_t identifier
        if len(inputs) != len(numbers):
            raise ValueError(f"arguments and jacobians must have the same length, got {len(inputs)} and {len(numbers)}")
        if type(value) is Real or as_number(<PyObject*>value, &primal) != 1:
            raise TypeError(f"value must be a plain real number, got {type(value).__name__}")
        self.demand_recording("push_statement()")
        cdef Entry* entries = <Entry*>malloc((len(inputs) + 1) * sizeof(Entry))
        if entries == NULL:
            raise MemoryError(f"no memory for a statement of {len(inputs)} arguments")
        try:
            for i in range(len(inputs)):     # what may run Python code, which may reset the tape, comes first
                if type(numbers[i]) is Real or as_number(<PyObject*>numbers[i], &entries[i].number) != 1:
                    raise TypeError(f"jacobians[{i}] must be a plain real number, got {type(numbers[i]).__name__}")
                if type(inputs[i]) is not Real and as_number(<PyObject*>inputs[i], &number) != 1:
                    raise TypeError(f"arguments[{i}] must be a Real or a number, got {type(inputs[i]).__name__}")
            for i in range(len(inputs)):
                if type(inputs[i]) is not Real:
                    continue
                variable = inputs[i]
                if not variable.epoch or not readmit(&self.recorder, variable):
                    continue
                if variable.count:
                    identify(&self.recorder, variable)
                entries[count].number, entries[count].identifier = entries[i].number, variable.identifier
                count += 1
            if count == 0:
                return Real(value)
            identifier = self.new_handmade(primal, entries, count)
        finally:
            free(entries)
        return new_identified(primal, self.recorder.epoch, identifier, OWNS if self.recorder.reuse else 0, kind_of(value))

    def new_adjoints(self, width=1, *, record=False):
        """An external adjoint vector: `width` directions that one sweep carries together.

        Parameters
        ----------
        width : int
            Directions, at least 1.
        record : bool
            Variables of the enclosing recording in one direction, of a tape that was recorded by ``nested``.

        Returns
        -------
        Adjoints or RecordedAdjoints
            ``adj[y] = seed`` and ``adj[x]`` take a Real or an Array; give it to ``evaluate(adjoints=adj)``, on any thread.
        """
        self.demand_recorded("new_adjoints()")
        if record:
            if width != 1:
                raise ValueError(f"record=True has one direction, got width={width!r}: sweep once for each")
            return door("recorded")(self)
        return Adjoints(self, width)

    def set_primal(self, x, value):
        """Set the value of an input for the next ``evaluate_primal()``.

        Parameters
        ----------
        x : Real or Array
            An input of this tape, or a view of one.
        value : float or array_like
            Its new value, of the shape of `x`. ``x.value`` keeps the recorded one.

        Raises
        ------
        TapeError
            If `x` is no input of this tape or from before a reset, or the tape stores no values ('auto' and Jacobian
            strategies).
        TypeError
            If `value` is no plain number or array of real numbers.
        ValueError
            If `value` has another shape than `x`.

        Examples
        --------
        >>> import codipy, numpy as np
        >>> tape = codipy.Tape(strategy="primal")
        >>> with tape:
        ...     x = tape.register_input(np.array([1.0, 2.0]))
        ...     y = tape.register_output(x * x)
        >>> tape.set_primal(x, np.array([3.0, 4.0]))
        >>> tape.evaluate_primal()
        >>> tape.get_primal(y), y.value
        (array([ 9., 16.]), array([1., 4.]))
        """
        cdef double number
        self.demand_recorded("set_primal()")
        if is_array(x):
            self.demand_values()
            set_values(self, x, value)
            return
        if type(value) is Real or as_number(<PyObject*>value, &number) != 1:
            raise TypeError(f"value must be a plain real number, got {type(value).__name__}")
        cdef int32_t identifier = self.identifier_of(x, "x")
        if not (<Real>x).flags & IS_INPUT:
            raise TapeError("x is not an input: only inputs take a new value, results are recomputed")
        self.demand_idle("set_primal()")
        self.primal_slot(identifier)[0] = number
        self.replay.changed = True

    def get_primal(self, x):
        """The value that the tape holds for a variable: recorded, or recomputed by ``evaluate_primal()``.

        Parameters
        ----------
        x : Real or Array
            A registered variable of this tape. Of an input that was written to in place since: what was registered.

        Returns
        -------
        float or ndarray
            Of the shape of `x`.

        Raises
        ------
        TapeError
            If the tape stores no values, `x` has none of its own on it, or the last ``evaluate_primal()`` failed or
            ended before `x`.
        """
        self.demand_recorded("get_primal()")
        if is_array(x):
            self.demand_values()
            return get_values(self, x)
        cdef double value = self.primal_slot(self.identifier_of(x, "x"))[0]
        demand_known(self, x)
        if self.recorder.names_results and is_unknown(value):
            return (<Real>x).primal      # nothing has read or recomputed it since it was recorded
        return value

    def dump(self, limit=10_000):
        """The recording as text, one statement a line.

        Identifiers are written ``#7``, those of an array ``#2..#11``; under strategies with reuse one may stand for
        several variables, one after the other. Value strategies (``simple``, ``primal``, ``primal-reuse``) show
        expressions and values, of arrays those that the statements read; Jacobian strategies show Jacobians. What the
        tape does not keep is a ``?``. Inside of a ``with codipy.profile():`` block around the recording each statement has
        the line of the program that wrote it.

        Parameters
        ----------
        limit : int
            How many statements are written at most.

        Returns
        -------
        str

        Raises
        ------
        TapeError
            If there are more statements, or for strategy 'forward', which keeps none.

        Examples
        --------
        >>> import codipy
        >>> tape = codipy.Tape(strategy="primal")
        >>> with tape:
        ...     x = tape.register_input(2.0)
        ...     y = tape.register_output(x * x + 1.0)
        >>> print(tape.dump())
        tape of strategy 'primal', granularity 'statement': 3 statements
        #1 = input  is 2
        #2 = #1*#1 + 1  is 5
        #3 = #2  is 5
        """
        from codipy.tape.display.dump import dump
        return dump(self, limit)

    def to_graphviz(self, limit=500):
        """The recording as a graph in the DOT language of Graphviz: a node for each statement, an array is one.

        Parameters
        ----------
        limit : int
            How many statements it may have.

        Returns
        -------
        str
            For ``dot -Tsvg``; the Jacobians of numbers stand at the edges.

        Raises
        ------
        TapeError
            If there are more statements, or for strategy 'forward', which keeps none.
        """
        from codipy.tape.display.graph import graphviz
        return graphviz(self, limit)

    def to_networkx(self, limit=500):
        """The same graph for networkx.

        Parameters
        ----------
        limit : int
            How many statements it may have.

        Returns
        -------
        networkx.MultiDiGraph
            Nodes are numbers in the order of recording, with the attributes ``kind``, ``statement``, ``identifiers``,
            ``shape``, ``value`` and ``label``; edges have ``identifiers`` and ``jacobian``, None for arrays.

        Raises
        ------
        ImportError
            Where networkx is not installed.
        TapeError
            As `to_graphviz`.
        """
        from codipy.tape.display.graph import networkx
        return networkx(self, limit)

    def optimize(self, inputs=None, outputs=None, *, dead=True, equal=True, merge=True, renumber=True):
        """A new tape with what some outputs need of this recording, and nothing twice.

        Parameters
        ----------
        inputs : sequence of Real and Array, optional
            Inputs of this tape, of which the new one has variables; default is ``tape.inputs``. All inputs stay on it.
        outputs : sequence of Real and Array, optional
            The variables whose derivatives are asked for, ``tape.outputs`` by default; each keeps an identifier of its own.
        dead : bool
            Drop statements that no output depends on.
        equal : bool
            Merge statements that compute the same from the same, and copies with what they copy; array statements as a
            whole.
        merge : bool
            Merge the arguments of a statement that are one variable; where statements store Jacobians.
        renumber : bool
            Let an identifier serve again when nobody reads its value any more, which makes adjoint vectors short. A tape of
            linear identifiers becomes one of a reuse strategy, if it takes fewer bytes then.

        Returns
        -------
        OptimizedTape
            ``tape``; ``inputs`` and ``outputs``, its registered variables in the order of those given; ``saved`` counts
            what each pass saved. This tape stays what it is; values of arrays are shared.

        Raises
        ------
        TapeError
            If the tape is recording, keeps nothing (``"forward"``), has no outputs, or a variable is none of this tape or has
            no identifier of its own.
        TypeError
            If something else than a Real or an Array is among them.

        Notes
        -----
        Without `equal` and `merge` gradients are those of this tape to the bit. With them a gradient moves by rounding: by at
        most one ulp of the sum of the magnitudes that are added up in it for each addition on the longest way from an
        output. On a way of few statements that is a few ulp; over hundreds that nothing cancels in, it was 80.

        Positions of this tape are none of the new one, and no more can be read there than its inputs and outputs. What
        is recorded on it further comes after what it has.

        Examples
        --------
        >>> import codipy
        >>> with codipy.Tape(strategy="jacobian") as tape:
        ...     x = tape.register_input(3.0)
        ...     unused = x / 7.0 + x
        ...     y = tape.register_output(x * x + x)
        >>> small, (x,), (y,), saved = tape.optimize()
        >>> y.gradient = 1.0
        >>> small.evaluate()
        >>> x.gradient, saved.merged_arguments
        (7.0, 2)
        """
        from codipy.active.optimized import optimize
        cdef Registered registered
        cdef Tape new
        found = optimize(self, list(self.inputs if inputs is None else inputs),
                         list(self.outputs if outputs is None else outputs), bool(dead), bool(equal), bool(merge), bool(renumber))
        new = found.tape
        for registered, those in ((new.registered_inputs, found.inputs), (new.registered_outputs, found.outputs)):
            registered.make_room(new, len(those))
            for x in those:
                if is_array(x):
                    registered.add_array(new, x)
                elif x.is_active:
                    registered.add_real(new, x)
        return found

    cdef int demand_values(self) except -1:
        if not self.store.gather(&self.recorder):
            raise TapeError("this tape stores no values: use strategy='simple', 'primal' or 'primal-reuse'")
        return 0

    cdef double* primal_slot(self, int32_t identifier) except NULL:
        self.demand_values()
        return self.recorder.primals + identifier

    cdef int32_t identifier_of(self, x, str name) except -1:
        """The identifier of a variable of this tape, or an error that names the argument."""
        if type(x) is not Real:
            if is_complex(x):
                raise TypeError(f"{name} is complex, and each of its parts is a variable of the tape: take {name}.real and "
                                f"{name}.imag")
            raise TypeError(f"{name} must be a Real, got {type(x).__name__}")
        cdef Real variable = x
        if not variable.epoch or variable.epoch >> 32 != self.serial:
            raise TapeError(f"{name} is {described(variable)}, which is not a variable of this tape: register it first")
        if not self.is_valid(variable.epoch):
            raise TapeError(f"{name} is {described(variable)}: record again")
        if variable.count or variable.flags & MERGED:
            raise TapeError(f"{name} is part of a larger statement and has no identifier of its own: call "
                            "register_output() on it while recording")
        return variable.identifier
