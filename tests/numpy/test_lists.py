# SPDX-License-Identifier: Apache-2.0
"""Functions of codipy.numpy called with lists of Reals and of Arrays, into which NumPy's protocols do not look."""

import copy
import inspect
import pickle
import re
import warnings

import numpy
import pytest

import codipy
import codipy.numpy as np
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.numpy.lists import _UNASKED, FUNCTIONS, UFUNCS
from tests.numpy.active_text import check, leaves

LONG = "[r * 0.1, s, 3.3, r * 0.07, s * s, 0.7, r, s, 1e-3, r * s, 2.0, s, r]"  # NumPy adds floats pairwise
TEXTS = [
    "np.sum([a, b])", "np.sum([a, b], axis=0)", "np.sum((r, s))", "np.sum([[r, 1.0], [2.0, s]], 1)",
    "np.sum([[a, b], [b, [1.0, r, s]]], axis=(0, 2))", "np.mean([a, b], axis=1)", "np.mean([r, s, 4.0])",
    "np.max([r, s, 0.1])", "np.min([a, b], axis=0)", "np.prod([r, s])", "np.std([r, s, 3.0])",
    "np.var([a, b], axis=0, ddof=1)", "np.median([a, b])", "np.median([s, r, 3.0])", "np.dot([r, s], [1.0, 2.0])",
    "np.dot([a, b], a)", "np.inner([r, s, 1.0], a)", "np.outer([r, s], [1.0, 2.0])", "np.vdot([a, b], [b, a])",
    "np.cumsum([r, s, 2.0])", "np.cumprod([r, s])", "np.diff([r, s, 3.0])", "np.trapezoid([r, s], [0.0, 1.0])",
    "np.trapezoid([1.0, 2.0, 4.0], x=[0.0, r, s])", "np.interp([r, s], [0.0, 1.0, 2.0], [2.0, 3.0, 5.0])",
    "np.polyval([r, 1.0, s], 0.3)", "np.cross([r, s, r], [1.0, 2.0, 3.0])", "np.einsum('i,ij', [r, s], [a, b])",
    "np.sort([s, r])", "np.percentile([s, r, 3.0], 40)", "np.reshape([r, s, 1.0, 2.0], (2, 2))", "np.transpose([a, b])",
    "np.ravel([a, b])", "np.flip([r, s])", "np.roll([r, s, 1.0], 1)", "np.tile([r, s], 2)", "np.repeat([r, s], 2)",
    "np.diag([r, s])", "np.atleast_2d([r, s])", "np.squeeze([[r, s]])", "np.take([r, s], [1, 1])",
    "np.where([True, False], [r, 1.0], [2.0, s])", "np.clip([r, s], 0.0, 1.0)", "np.append([r], [s])",
    "np.concatenate([[r], [s, 1.0]])", "np.concatenate(([r, s], a))", "np.stack([[r, s], [1.0, 2.0]], axis=1)",
    "np.hstack([[r, s], a])", "np.vstack([a, [r, s, 1.0]])", "np.column_stack([a, [1.0, r, s]])", "np.block([[r, s]])",
    "np.cov([a, b])", "np.tensordot([a, b], [a, b], axes=([1], [1]))", "np.average([r, s], weights=[s, 2.0])",
    "np.gradient([r, s, 4.0, s * r])", "np.ptp([r, s, 1.0])", "np.nanmean([r, numpy.nan, s])",
    "np.kron([r, s], [1.0, s])", "np.apply_along_axis(lambda v: np.convolve(a, v), 0, numpy.ones((2, 3)))",
    "np.apply_along_axis(lambda v: v[0] * s, 1, numpy.ones((2, 3)))",
    "r * np.apply_along_axis(lambda v: v[::-1], 1, numpy.eye(3))",
    "np.emath.sqrt([r, s])", "np.emath.log([[r], [s]])", "np.emath.power([r, s], 2.5)", "np.emath.power(2, [r, 1])",
    "np.emath.logn(2.0, (r, s))", "np.lib.scimath.log2([r, 3])", "np.emath.arctanh([0.1 * r, 0.1 * s])",
    "np.linalg.solve([[r, 1.0], [0.5, s]], [1.0, r])", "np.linalg.inv([[r, 1.0], [0.5, s]])",
    "np.linalg.det([[r, s], [s, r]])",
    "np.linalg.norm([r, s])", "np.linalg.norm([a, b], axis=1)", "np.linalg.eigvalsh([[r, 0.1], [0.1, s]])",
    "np.linalg.multi_dot([m, m.T, [r, s]])", "np.linalg.lstsq([[r, 1.0], [0.5, s], [1.0, 1.0]], [1.0, r, s])[0]",
    "np.sin([r, 1.0])", "np.exp((r, s))", "np.add([r, 1.0], [2.0, s])", "np.multiply([[r, 1.0], (2.0, s)], 3.0)",
    "np.power([r, s], [s, 2.0])", "np.hypot([a, b], [1.0, r, s])", "np.subtract(a, [r, 1.0, s])",
    "np.modf([r, 1.5, s])[0]", "np.frexp((r, s))[0]",
    "np.divmod([r, s], 0.4)[1]", "np.float_power([r, s], 2)", "np.logaddexp2([r, s], 1.0)",
    "np.heaviside([r, 0.0], [s, s])", "np.nextafter([r, s], 3.0)", "np.ldexp([r, s], [1, 2])",
    "np.matmul([[r, 1.0], [2.0, s]], [1.0, r])",
    "np.vecdot([a, b], [1.0, r, s])", "np.maximum([r, s], [s, 0.1])", "np.arctan2([r, s], [1.0, r])",
    "np.sin([r, 1.0], where=[True, False], out=np.zeros(2))", "np.exp([r, s], out=np.zeros(2))",
    "np.modf([r, s], out=(np.zeros(2), np.zeros(2)))", "np.add([r, s], [[1.0], [s]], dtype=float)",
    "np.add.reduce([r, s, 4.0])", "np.multiply.reduce([[r, 2.0], [s, r]], axis=(0, 1))",
    "np.maximum.reduce([r, s, 1.0])",
    "np.add.accumulate([r, s, 1.0])", "np.add.reduceat([r, s, 1.0], [0, 2])", "np.multiply.outer([r, s], [1.0, s])",
    f"np.sum({LONG})", f"np.mean({LONG})", f"np.var({LONG})", f"np.std({LONG})",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_value_and_gradient(text):
    check(text, numpy=numpy)


def test_places_and_truth():
    tape = codipy.Tape()
    with tape:
        a, r = tape.register_input(numpy.array([0.3, 1.2])), tape.register_input(0.6)
        assert np.argmax([r, 0.3, 1.0]) == 2 and np.argsort([r, 0.3]).tolist() == [1, 0]
        assert np.shape([a, a]) == (2, 2) and np.ndim([a, a]) == 2 and np.size([a, [r, r]]) == 4
        assert np.any([a > 1.0]) and np.isclose([r], [0.6]).tolist() == [True]
        assert np.digitize([r], [0.5]).tolist() == [1]


def test_lists_that_are_trees_are_left_alone():
    tape = codipy.Tape()
    with tape:
        a, r = tape.register_input(numpy.array([0.3, 1.2, 2.0])), tape.register_input(0.6)
        chosen = np.select([a < 0.5, a < 1.5], [r, a], default=0.0)
        pieces = np.piecewise(a, [a < 1.0, a >= 1.0], [lambda x: x * r, 3.0])
        joined = np.block([a, r])
    assert chosen.value.tolist() == [0.6, 1.2, 0.0] and chosen.is_active
    assert pieces.value.tolist() == [0.3 * 0.6, 3.0, 3.0]
    assert joined.value.tolist() == [0.3, 1.2, 2.0, 0.6]


def test_outside_of_a_recording_and_inside_of_passive_they_are_numpy():
    assert type(np.sum([1.0, 2.0])) is numpy.float64 and type(np.sort([2.0, 1.0])) is numpy.ndarray
    tape = codipy.Tape()
    with tape:
        a = tape.register_input(numpy.array([0.3, 1.2]))
        with codipy.passive():
            assert np.sum([a, a]) == 3.0 and np.sum([a, a], axis=0).tolist() == [0.6, 2.4]
    assert np.sum([codipy.Array([1.0]), codipy.Array([2.0])]) == 3.0


def test_functions_look_like_numpys():
    assert np.sum.__name__ == "sum" and np.sum.__doc__ == numpy.sum.__doc__ and np.sum == numpy.sum
    assert {"sum", "concatenate", "median", "argmax", "reshape"} <= FUNCTIONS.keys()
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.sum([codipy.Array([1.0]), codipy.Array([2.0, 3.0])])


def test_without_codipys_namespace_a_list_of_arrays_is_an_error_with_the_fix():
    tape = codipy.Tape()
    with tape:
        a = tape.register_input(numpy.array([0.3, 1.2]))
        for function in (numpy.sum, numpy.mean, numpy.exp):
            with pytest.raises(ActiveError, match=r"np\.stack"):
                function([a, a])
        assert type(numpy.sum(numpy.stack([a, a]), axis=0)) is Array


def called_with_lists():
    """Each ufunc and its methods, as texts of calls with lists of a Real and a float."""
    one, two = "[x, 0.25]", "[0.5, x]"
    for name, ufunc in vars(numpy).items():
        if not isinstance(ufunc, numpy.ufunc) or ufunc.signature:
            continue
        arguments = ", ".join((one, two, one)[: ufunc.nin])
        yield from (text.format(name, arguments) for text in ("np.{}({})", "np.{}({}, dtype=float)"))
        if ufunc.nin == 2 and ufunc.nout == 1:
            yield f"np.{name}({one}, 2.0)"
            yield from (f"np.{name}.{method}({one})" for method in ("reduce", "accumulate"))
            yield from (f"np.{name}.{call}" for call in (f"outer({one}, {two})", f"reduceat({one}, [0, 1])"))


def run(text, namespace, x):
    with numpy.errstate(all="ignore"):
        found = eval(text, {"np": namespace, "x": x})
        rows = [row.reshape(-1) if type(row) is Array else numpy.ravel(row).tolist() for row in leaves(found)]
        return [number for row in rows for number in row]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("namespace", [np, numpy], ids=["codipy", "numpy"])
def test_no_ufunc_of_a_list_is_wrong_in_silence(namespace):
    """Of NumPy's own ones some raise; what they give are the values and slopes of the plain run."""
    right = 0
    for text in called_with_lists():
        try:
            expected, *ends = (run(text, numpy, x) for x in (0.6, 0.6 + 1e-6, 0.6 - 1e-6))
        except (TypeError, ValueError):
            continue  # NumPy refuses floats
        tape = codipy.Tape()
        with tape:
            x = tape.register_input(0.6)
            try:
                found = run(text, namespace, x)
            except (TypeError, ValueError, AttributeError):
                assert namespace is numpy or "." in text[3:].partition("(")[0], text
                continue
            if namespace is numpy and "logical" in text:  # of objects, which NumPy hands on: as true as True
                expected, found = list(map(bool, expected)), list(map(bool, found))
            assert numpy.array_equal([codipy.value(y) for y in found], expected, equal_nan=True), text
            if not numpy.isfinite(expected).all():
                continue
            sum_of_all = 0.0
            for y in found:
                sum_of_all = sum_of_all + y * 1.0
            y = tape.register_output(sum_of_all + 0.0 * x)
        y.gradient = 1.0
        tape.evaluate()
        slope = (sum(map(float, ends[0])) - sum(map(float, ends[1]))) / 2e-6
        assert x.gradient == pytest.approx(slope, rel=1e-6, abs=1e-6), text
        right += 1
    assert right > (250 if namespace is np else 60)


def test_a_listed_ufunc_is_a_ufunc():
    assert isinstance(np.add, numpy.ufunc) and np.add == numpy.add and numpy.add == np.add and np.add != np.subtract
    assert {numpy.add: 1}[np.add] == 1 and np.abs is np.absolute and np.add.nin == 2 and np.add.reduce([1, 2]) == 3
    assert np.add.__name__ == "add" and np.add.__doc__ == numpy.add.__doc__ and repr(np.add) == repr(numpy.add)
    assert pickle.loads(pickle.dumps(np.add)) is numpy.add and copy.deepcopy([np.add]) == [numpy.add]
    assert np.vectorize(np.add)([1, 2], 3).tolist() == [4, 5] and callable(np.add.at)
    with pytest.raises(AttributeError, match="ufunc"):
        _ = np.add.nothing
    assert len(UFUNCS) > 90


def test_a_call_without_a_list_records_what_it_did():
    """Whether a temporary is merged is told by its references: a ufunc behind another callable has as many."""

    def length(namespace):
        tape = codipy.Tape(strategy="jacobian")
        with tape:
            x = tape.register_input(numpy.array([0.3, 1.2]))
            y = namespace.exp(namespace.sin(x * x) + x) * namespace.sqrt(x + 1.0)
            tape.register_output(y.sum())
        return tape.statistics().total.used

    assert length(np) == length(numpy)


def test_rebound_linalg():
    from numpy import linalg
    from numpy.linalg import solve

    def f(x):
        import numpy.linalg as la

        matrix = [[x[0], 1.0], [0.5, x[1]]]
        determinant, first = linalg.det(matrix), numpy.linalg.inv(matrix)[0, 0]
        return solve(matrix, [1.0, x[2]])[0] + determinant + la.norm([x[0], x[1]]) + first

    x = numpy.array([3.0, 0.7, 1.0])
    value, slope = codipy.value_and_grad(f)(x)
    assert value == f(x)
    step = 1e-6 * numpy.eye(3)
    assert slope == pytest.approx(numpy.array([(f(x + h) - f(x - h)) / 2e-6 for h in step]), rel=1e-7)
    with pytest.raises(numpy.linalg.LinAlgError):
        codipy.grad(lambda x: numpy.linalg.inv([[x[0], x[0]], [x[0], x[0]]])[0, 0])(x)


def test_rebound_code():
    def f(x):
        pair = [x[0] * x[1], x[2]]
        return numpy.sum([x, 2.0 * x]) + numpy.max(pair) + numpy.linalg.norm(numpy.mean([x, x], axis=0))

    value, slope = codipy.value_and_grad(f)(numpy.array([3.0, 0.5, 1.0]))
    assert value == f(numpy.array([3.0, 0.5, 1.0]))
    size = numpy.sqrt(10.25)
    assert slope == pytest.approx(numpy.array([3.5 + 3 / size, 6.0 + 0.5 / size, 3.0 + 1 / size]))


@pytest.mark.parametrize("ufunc", [numpy.hypot, numpy.arctan2, numpy.add, numpy.copysign, numpy.logaddexp, numpy.power],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("data", [[1.0, 2.5, 0.3], (2, 3, 1), [[1.0, 2.0], [0.5, 3.0]]], ids=str)
def test_ufuncs_of_a_number_and_a_list_of_data_give_arrays(ufunc, data):
    seen = []

    def f(x):
        both = ufunc(x[0], data), ufunc(data, x[1]), ufunc.outer(data, x)
        seen.append([(y.dtype, codipy.value(y).tobytes()) for y in both])
        return sum(numpy.sum(y) for y in both)

    x = numpy.array([0.7, 1.3])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x) and seen[0] == seen[1]
    steps = 1e-6 * numpy.eye(2)
    assert gradient == pytest.approx([(f(x + step) - f(x - step)) / 2e-6 for step in steps], rel=1e-6, abs=1e-7)


def test_tuples_of_methods_stay_axes_and_indices():
    def f(x):
        a = numpy.outer(x, x)
        numpy.add.at(a, ([0, 1], [1, 0]), x)
        return numpy.add.reduce(a, (0, 1)) + numpy.add.reduceat(x, [0, 1])[1]

    x = numpy.array([0.7, 1.3])
    assert codipy.value_and_grad(f)(x)[0] == f(x)


PLAIN = numpy.array([[0.3, 1.1], [2.3, 0.4]])
UNASKED = [
    "np.sum(p, initial=r)", "np.sum(p, 0, None, None, False, r)", "np.prod(p, 1, initial=r)", "np.max(p, initial=r)",
    "np.max(p, initial=9 * r)", "np.min(p, 0, initial=r)", "np.nansum(p, initial=r)", "np.nanmax(p, initial=9 * r)",
    "np.interp([-9.0, 0.5, 9.0], [0.0, 1.0], [2.0, 3.0], r, right=s)", "np.nan_to_num([numpy.nan, 1.0], nan=r)",
    "np.nan_to_num(numpy.array([-numpy.inf, 1.0]), True, 0.0, None, s)", "np.nanvar(p, mean=r)",
    "np.var(p, 0, mean=[[r, s]])", "np.nanstd(p, axis=1, mean=r)", "np.pad(p, 1, constant_values=r)",
    "np.piecewise(numpy.ones(2), [[True, False]], [r, s])", "np.select([[True, False]], [1.0], r)",
    "np.select([[True, False]], [[1.0, 2.0]], default=[r, s])", "np.abs(np.fft.fft([r, 1.0, s]))",
    "np.fft.irfft([r, 1.0 + 2.0j, s])", "np.std(a, mean=r)", "np.std(a, mean=0.3, ddof=1)", "np.var(a, mean=np.sum(b))",
]  # fmt: skip


@pytest.mark.parametrize("text", UNASKED)
def test_parameters_that_numpy_does_not_ask_are_seen(text):
    check(text, numpy=numpy, p=PLAIN)


def test_the_deviation_of_equal_values_from_another_mean_has_a_slope():
    assert numpy.array_equal(codipy.grad(lambda x: numpy.std(x, mean=0.0))(numpy.ones(2)), [0.5, 0.5])


def test_what_is_left_of_a_list_without_zeros_is_a_list():
    def f(x):
        left = numpy.trim_zeros([0.0, x[0], 0.0, x[1] * x[1], 0.0])
        assert type(left) is list and len(left) == 3 and type(numpy.trim_zeros((0.0, x[0]))) is tuple
        return left[2] + left[0]

    assert codipy.value_and_grad(f)(numpy.array([2.0, 3.0]))[0] == 11.0
    assert codipy.grad(f)(numpy.array([2.0, 3.0])).tolist() == [1.0, 6.0]


def test_methods_of_logical_ufuncs_give_truth_values_of_numbers():
    def f(x):
        assert numpy.logical_or.reduce(x[0]).dtype == bool and numpy.logical_and.outer(x[0], 2).dtype == bool
        return x[0]

    assert codipy.grad(f)(numpy.ones(1)) == 1.0


def test_the_real_part_of_a_float_is_that_float():
    assert codipy.value_and_grad(lambda h: numpy.real(h))(0.6) == (0.6, 1.0)
    assert codipy.value_and_grad(lambda h: numpy.real(h * h) * 2)(0.5) == (0.5, 2.0)


# Parameters that no protocol is asked for and that have no derivative: numbers, places, axes, texts.
WITHOUT_DERIVATIVE = frozenset(re.findall(r"\w+", """
    N allow_pickle axisa axisb axisc bitorder bins busdaycal comments condlist correction count cov deg
    delimiter density descending destination dims discont edgeitems einsum_call encoding file floatmode fmt fname footer
    formatter full func func1d header include_initial increasing ind indices kth legacy m max_line_width
    max_work multi_index new_shape newline ord p pad_width period precision prefix range rcond repeats retstep
    return_indices right roll rtol separator shift sign sorted source start suffix suppress_small threshold
    timezone to tol trim unit upper where wrap
"""))
# Parameters of functions that are codipy's own, or that look into lists and compute with what they find.
SEEN_OTHERWISE = {"arrays", "choices", "choicelist", "dx", "fill_value", "sample", "seq_of_zeros", "tup", "val", "x"}
COMMON = frozenset(re.findall(r"\w+", """
    M UPLO assume_unique axes axis axis1 axis2 bias casting compute_uv copy ddof decimals device dtype
    edge_order endpoint equal_nan full_matrices hermitian indexing interpolation invert k keepdims kind like method
    minlength newshape style
    mode n norm num offset optimize order overwrite_input return_counts return_index return_inverse returned
    rowvar s shape side sorter sparse stable subok
"""))


class Asked:
    """Says whether a protocol was asked."""

    def __array_function__(self, func, types, args, kwargs):
        return self

    def __array_ufunc__(self, *args, **kwargs):
        return self


def unasked(function):
    """The parameters of a function of NumPy of which nothing is asked."""
    all_of = inspect.signature(function).parameters.values()
    needed = [p.name for p in all_of if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for p in all_of:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        given, asked = {name: numpy.ones(3) for name in needed}, Asked()
        given[p.name] = asked
        leading = [given.pop(q.name) for q in all_of if q.kind == q.POSITIONAL_ONLY and q.name in given]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = function(*leading, **given)
            except Exception:  # whatever NumPy says of an object that is no array
                found = None
        if found is not asked:
            yield p.name


def test_every_parameter_that_numpy_does_not_ask_is_asked_here():
    for name in {*FUNCTIONS} | {"select", "pad", "piecewise"}:
        function = getattr(numpy, name)
        if not isinstance(function, type(numpy.sum)):
            continue
        try:
            missing = set(unasked(function))
        except ValueError:
            continue  # written in C, and without a signature
        known = set(_UNASKED.get(function.__name__, "").split())
        assert known - {"constant_values", "end_values"} <= missing, name
        assert missing <= known | COMMON | WITHOUT_DERIVATIVE | SEEN_OTHERWISE, name


@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh", "power", "logn"])
@pytest.mark.parametrize("sign", [1.0, -3.0], ids=["real", "complex"])
def test_lists_of_singles_in_functions_that_may_be_complex(name, sign):
    """What NumPy makes of them is single too."""
    point = numpy.array([0.5, 0.25])
    rest = {"power": (numpy.float32(1.5),)}.get(name, ())

    def f(x):
        first, second = (x * sign).astype(numpy.float32)
        function = getattr(numpy.lib.scimath, name)
        return function(2, [first, second]) if name == "logn" else function([first, [second][0]], *rest)

    plain = f(point)
    tape = codipy.Tape()
    with tape:
        found = codipy.rebind(f)(tape.register_input(point))
    assert found.dtype == plain.dtype
    assert codipy.value(found).tobytes() == plain.tobytes()


@pytest.mark.parametrize("function", ["var", "std", "nanvar", "nanstd"])
def test_a_mean_and_an_active_ddof_are_not_left_out(function):
    def f(x):
        return getattr(numpy, function)(numpy.stack([x, x * x]), axis=1, ddof=x[0], mean=x[2])[0]

    with pytest.raises(ActiveError, match=f"np.{function}: there is no derivative for the argument ddof"):
        codipy.grad(f)(numpy.array([0.3, 1.2, 2.1]))


@pytest.mark.parametrize("kind", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("text", ["sliding_window_view((x[1], x[2]), 2)", "as_strided([x[0], x[1]], (2,), (0,))"])
def test_lists_of_which_parts_are_shown(text, kind):
    def f(x):
        y = eval(f"numpy.lib.stride_tricks.{text}", {"numpy": codipy.numpy if rebound else numpy, "x": x})
        seen.append((y.dtype, codipy.value(y).tobytes()))
        return numpy.sum(y * y)

    seen, rebound = [], False
    x = numpy.array([0.5, 1.5, 2.5], kind)
    f(x)
    rebound = True
    found = codipy.grad(f)(x)
    assert seen[0] == seen[1]
    assert numpy.array_equal(found, [0.0, 3.0, 5.0] if "sliding" in text else [2.0, 0.0, 0.0])


SPACES = ["np.linspace([x[1], x[2]], 3, 4)", "np.linspace(0.0, (x[0], x[2]), 3)", "np.logspace([x[1], x[2]], 3, 4)",
          "np.linspace([x[1], x[2]], 2.0 * x[0].item(), 4)", "np.linspace([x[0], 1.5], [x[1], x[2]], 3)"]  # fmt: skip


@pytest.mark.parametrize("kind", [numpy.float32, numpy.float64])
@pytest.mark.parametrize("text", SPACES)
def test_spaces_between_lists(text, kind):
    def f(x):
        y = eval(text, {"np": codipy.numpy if rebound else numpy, "x": x})
        seen.append((y.dtype, codipy.value(y).tobytes()))
        return numpy.sum(y * y)

    seen, rebound = [], False
    x = numpy.array([0.5, 0.7, 0.9])
    slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in numpy.eye(3) * 1e-6]
    x = x.astype(kind)
    plain = f(x), seen[-1]
    rebound = True
    assert numpy.allclose(codipy.grad(f)(x), slopes, rtol=1e-4 if kind is numpy.float32 else 1e-6)
    assert seen[-1] == plain[1]
