# SPDX-License-Identifier: Apache-2.0
"""What a random call of one of NumPy's functions must do: all that the plain run does, and have the right slopes.

What counts is bits, dtype, shape, layout, what shares memory, what may be written to, what is written, what is warned
of and raised, and the gradient, beside central differences of the plain run.
"""

import re
import warnings

import numpy as np

import codipy
from codipy.errors import ActiveError, TapeError
from tests.fuzz.functions import SIZE, Call, leaves
from tests.fuzz.judge import Finding, quietly

# What codipy says that it cannot do, in errors of NumPy's kinds.
SAID = re.compile(
    "have no derivative|at positive arguments alone|no derivative (exists|by it)"
    "|use full_matrices=False|a complex number is no float, nor does it go into"
    "|^out= has shape"
)


def judge_call(call):
    """The first thing that is wrong with a call, or None."""
    try:
        return _judge(call)
    except (ActiveError, TapeError) as error:
        return Finding("refused", f"{type(error).__name__}: {error}")
    except Exception as error:
        known = isinstance(error, (np.linalg.LinAlgError, TypeError, ValueError)) and SAID.search(str(error))
        return Finding("refused" if known else type(error).__name__, f"{type(error).__name__}: {error}")


def _heard(f, x):
    """What a function returns or raises, and what it warns of."""
    with warnings.catch_warnings(record=True) as said, np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        try:
            found = f(x)
        except (ActiveError, TapeError):
            raise
        except Exception as error:
            found = error
    return found, {(w.category, str(w.message).replace("in scalar ", "in ")) for w in said}


def _without_names(said):
    """`ufunc.at` is itself what NumPy names."""
    return {(category, text.partition(" encountered")[0]) for category, text in said}


def _is_answer(found, plain):
    """Whether somebody who catches what NumPy raises gets it: one of several mistakes, or any error for wrong types."""
    return type(found) is type(plain) or isinstance(plain, (TypeError, AttributeError))


def _judge(call):
    plain, warned = _heard(call.compiled(), call.x.copy())
    again = _heard(call.compiled(), call.x.copy())[0]
    if not isinstance(plain, Exception) and repr(plain) != repr(again):
        return None  # memory that nobody has written
    rebound = codipy.rebind(call.compiled())
    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Array(call.x.copy()))
        found, said = _heard(rebound, x)
        if isinstance(plain, Exception):
            if not isinstance(found, Exception):
                if isinstance(plain, AttributeError):
                    return None  # a list, where NumPy itself takes arrays only
                return Finding("no error", f"plain {type(plain).__name__}: {plain}")
            if not _is_answer(found, plain):
                known = isinstance(found, (np.linalg.LinAlgError, TypeError, ValueError)) and SAID.search(str(found))
                if known:
                    return Finding("refused", str(found))
                return Finding("error", f"{type(found).__name__}: {found}, plain {type(plain).__name__}: {plain}")
            return None
        if isinstance(found, Exception):
            raise found
        v, o, r = plain
        expected = [v, *leaves(o), *leaves(r)]
        first, *others = found
        results = [first, *(y for part in others for y in leaves(part))]
        if len(results) != len(expected):
            return Finding("number", f"{len(results)} results, plain {len(expected)}")
        for y, plain in zip(results, expected):
            finding = _compared(y, plain, first, v)
            if finding:
                return finding
        if ".at(" in call.source:
            said, warned = _without_names(said), _without_names(warned)
        if said != warned:
            return Finding("warnings", f"{said}, plain {warned}")
    return _differentiated(call, expected)


def _compared(y, plain, first, v):
    """A result beside the plain run's: as a value, and as an array that lies in memory."""
    if not isinstance(plain, (np.ndarray, np.generic, float, complex)):
        return None if type(codipy.value(y)) is type(plain) else Finding("type", f"{y!r}, plain {plain!r}")
    value = codipy.value(y)
    bits, right = np.asarray(value), np.asarray(plain)
    if isinstance(value, np.ndarray) != isinstance(plain, np.ndarray) or bits.dtype != right.dtype:
        return Finding("type", f"{type(value)} of {bits.dtype}, plain {type(plain)} of {right.dtype}")
    if bits.shape != right.shape:
        return Finding("shape", f"{bits.shape}, plain {right.shape}")
    if not np.array_equal(bits, right, equal_nan=right.dtype.kind in "fc"):
        return Finding("value", f"{value!r}, plain {plain!r}")
    if right.dtype.kind in "fc" and not _same_signs(bits, right):
        return Finding("sign", f"{value!r}, plain {plain!r}")
    if not isinstance(plain, np.ndarray) or not plain.size or isinstance(y, np.ndarray):
        shown = isinstance(plain, np.ndarray) and plain.dtype.kind in "fc" and np.shares_memory(plain, v)
        return Finding("memory", "a plain array, where NumPy's shows v") if shown and plain.size else None
    if np.shares_memory(y, first) != np.shares_memory(plain, v):
        return Finding("memory", f"shares v's: {np.shares_memory(y, first)}, plain {np.shares_memory(plain, v)}")
    if y.flags.writeable != plain.flags.writeable:
        return Finding("writeable", f"{y.flags.writeable}, plain {plain.flags.writeable}")
    laid_out = y.flags.c_contiguous, y.flags.f_contiguous
    if laid_out != (plain.flags.c_contiguous, plain.flags.f_contiguous):
        return Finding("layout", f"strides {y.strides}, plain {plain.strides}")
    if [s for s, n in zip(y.strides, y.shape) if n > 1] != [s for s, n in zip(plain.strides, y.shape) if n > 1]:
        return Finding("strides", f"strides {y.strides}, plain {plain.strides}")
    return None


def _same_signs(x, y):
    if x.dtype.kind == "c":
        return _same_signs(x.real, y.real) and _same_signs(x.imag, y.imag)
    return np.array_equal(np.signbit(x) & ~np.isnan(x), np.signbit(y) & ~np.isnan(y))


def _differentiated(call, expected):
    """The gradient and a tangent, beside differences of the call in double precision."""
    rng = np.random.default_rng(len(call.source))
    weights = [rng.normal(size=np.shape(y)) if np.asarray(y).dtype.kind in "fc" else None for y in expected]

    compiled = call.compiled()

    def total(x, f=compiled):
        v, o, r = f(x)
        found = 0.0
        for y, weight in zip([v, *leaves(o), *leaves(r)], weights):
            if weight is not None and np.iscomplexobj(y):
                found = found + np.sum(y.real * weight) - np.sum(y.imag * weight[..., ::-1] if weight.ndim else y.imag)
            elif weight is not None:
                found = found + np.sum(y * weight)
        return found

    exact = Call(call.doubled, call.names, call.x, call.function).compiled()
    direction = rng.uniform(-1.0, 1.0, SIZE)
    try:
        here = quietly(total, call.x.copy(), exact)
    except ValueError:
        return None  # results of other shapes: what is equal in single precision may differ in double
    if not abs(here) < 1e12:
        return None
    gradient = quietly(codipy.grad(total), call.x.copy())
    sizes = np.abs(call.x)
    overflows = any(text in call.source for text in ("1e30", "1e-3", "5e-324"))
    if overflows or np.any((sizes < 1e-100) & (sizes > 0) | (sizes > 1e100)):
        return None
    along, scale = float(np.sum(gradient * direction)), 1.0 + float(np.sum(np.abs(gradient)))
    if scale > 1e10:
        return None  # of a singular matrix, say: nothing has digits to compare
    if not np.isfinite(along):
        return None if not np.isfinite(quietly(total, call.x.copy())) else Finding("gradient", f"{gradient!r}")
    moved = float(quietly(codipy.jvp, total, (call.x.copy(),), (direction,))[1])
    if not abs(moved - along) <= (1e-9 if call.source == call.doubled else 1e-4) * scale:
        return Finding("tangent", f"{moved!r} along a direction, by the gradient {along!r}")
    try:
        slopes = [(quietly(total, call.x + h * direction, exact) - here) / h for h in (1e-6, -1e-6)]
    except Exception:
        return None  # beside this point the call is another one
    single = call.source != call.doubled
    if single and not np.isclose(here, float(quietly(total, call.x.copy())), rtol=1e-3, atol=1e-3):
        return None  # rounding took it another way
    lost = 1e-9 * abs(here)  # digits that differences lose
    middle, apart = 0.5 * sum(slopes), abs(slopes[0] - slopes[1]) + lost
    scale += abs(middle)
    if np.any(sizes == 0):
        return None  # a kink is likely
    if apart <= 1e-3 * scale and not abs(middle - along) <= (0.02 if single else 1e-5) * scale + apart:
        return Finding("gradient", f"{along!r} along a direction, expected {middle!r}")
    return None
