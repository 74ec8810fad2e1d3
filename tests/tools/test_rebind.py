# SPDX-License-Identifier: Apache-2.0
"""rebind on functions: names, closures, decorators, generators, imports, and that nobody else sees any of it."""

import asyncio
import contextlib
import functools
import gc
import inspect
import math
import textwrap
import threading
import traceback
import types
import weakref
from math import sqrt
from typing import TypeVar, cast

import numpy as np
import numpy.linalg as la
import pytest
from numpy import float64, zeros
from numpy import sum as npsum

import codipy
from codipy.active.array import Array
from codipy.tools.rebind import Rebinding, rebind
from tests.tools.rebound import check, slope

NUMBERS = (float, np.floating)
calls = 0
step = 0.5


def filled(x):
    z = np.zeros(3)
    z[1] = x * x
    return z


def allocates(x):
    return filled(x)[1] * 3.0


def from_imports(x):
    z = zeros(2, dtype=float64)
    z[0] = sqrt(x)
    return z[0] * math.sin(x)


def converts(x):
    y = float(x) + np.float64(x)
    assert isinstance(y, float) and isinstance(x, float | np.ndarray) and isinstance(x, NUMBERS)
    assert type(float(x)) is float and type(filled(x)) is np.ndarray
    return y * float("1.5") + float.fromhex("0x1p1") + np.ones(2, float)[0]


def recursive(x, n=5):
    if n == 0:
        return float(x)
    z = np.empty(1)
    z[0] = recursive(x, n - 1) * x
    return z[0]


def even(x, n):
    return filled(x)[1] if n == 0 else odd(x, n - 1)


def odd(x, n):
    return even(x, n - 1) * x


def mutual(x):
    return even(x, 4)


def in_lambda(x):
    return (lambda t: np.full(2, t)[1])(x) * [filled(k * x)[1] for k in range(1, 3)][1]


def in_generator(x):
    def squares():
        for k in range(3):
            z = np.zeros(1)
            z[0] = x * x * k
            yield z[0]

    return sum(squares())


def imports_inside(x):
    import math as m

    import numpy as n
    import numpy.linalg as linear
    from numpy import ones

    z = n.zeros(1) + ones(1)
    z = n.zeros(1)
    z[0] = m.exp(x)
    assert linear is la and linear.__name__ == "numpy.linalg" and linear.LinAlgError is la.LinAlgError
    return z[0]


def defaults(x, xp=np, *, make=filled, sine=math.sin):
    z = xp.zeros(1)
    z[0] = sine(x)
    return z[0] * make(x)[1]


@functools.lru_cache(maxsize=8)
def table(n):
    return np.zeros(n)


def cached(x):
    t = np.array(table(3))
    t[1] = x
    return t[1] * t[1]


def tripled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 3.0 * f(*args, **kwargs)

    return wrapper


@tripled
@tripled
def decorated(x):
    return filled(x)[1]


@contextlib.contextmanager
def scaled(x):
    z = np.ones(1)
    z[0] = x
    yield z[0]


def with_context(x):
    with scaled(x) as y:
        return y * y


partial = functools.partial(defaults, xp=np, make=filled)


def uses_partial(x):
    return partial(x) + functools.partial(defaults)(x)


def class_inside(x):
    class Point:
        scale = np.ones(1)

        def __init__(self, u):
            self.z = np.zeros(2)
            self.z[1] = u

        def norm(self):
            return self.z[1] * self.z[1]

    return Point(x).norm()


def in_conditional(x):
    try:
        y = filled(x)[1]
        raise KeyError("a")
    except KeyError:
        return y * 2.0


@pytest.mark.parametrize(
    "f",
    [
        allocates, from_imports, converts, recursive, mutual, in_lambda, in_generator, imports_inside, defaults, cached,
        decorated, with_context, uses_partial, class_inside, in_conditional, partial, lambda x: filled(x)[1],
        lambda x: np.array([x, 2.0])[0] * math.log(x),
    ],
    ids=lambda f: getattr(f, "__name__", "partial"),
)  # fmt: skip
def test_functions(f):
    check(f)
    assert type(rebind(f)(2.0)) in (float, np.float64)


def test_without_rebind_it_raises():
    with codipy.Tape() as tape, pytest.raises(TypeError):
        allocates(tape.register_input(codipy.Real(2.0)))


def made(source, **names):
    """Names made by exec, without a file or a module."""
    namespace = dict(names)
    exec(textwrap.dedent(source), namespace)
    return namespace


def test_tracebacks_show_the_users_lines():
    def fails(x):
        z = np.zeros(1)
        z[0] = x
        raise RuntimeError("here")  # this line

    try:
        rebind(fails)(2.0)
    except RuntimeError as error:
        frames = traceback.extract_tb(error.__traceback__)
    assert frames[-1].line == 'raise RuntimeError("here")  # this line' and frames[-1].name == "fails"
    assert list(Rebinding(fails).current().__code__.co_lines())[-1][2] == list(fails.__code__.co_lines())[-1][2]


def test_what_others_see_is_unchanged():
    variables, code = dict(globals()), allocates.__code__
    attributes = {name: dict(vars(value)) for name, value in variables.items() if inspect.isfunction(value)}
    check(allocates)
    check(recursive)
    assert set(variables) == set(globals()) and all(globals()[name] is value for name, value in variables.items())
    assert allocates.__globals__ is globals() and allocates.__code__ is code and globals()["np"].zeros is np.zeros
    for name, before in attributes.items():
        assert vars(variables[name]) == before
    assert type(filled(2.0)) is np.ndarray
    with codipy.Tape():
        assert type(filled(2.0)) is np.ndarray  # not rebound


def test_metadata_and_attributes_are_those_of_the_function():
    def f(x: float, *, k: int = 3) -> float:
        """Says something."""
        f.calls = getattr(f, "calls", 0) + 1
        return float(x) + k

    f.x0 = 2.0
    g = rebind(f)
    current = Rebinding(f).current()
    for h in (g, current):
        assert (h.__name__, h.__qualname__, h.__doc__, h.__module__) == (
            f.__name__, f.__qualname__, f.__doc__, f.__module__)  # fmt: skip
        assert inspect.signature(h) == inspect.signature(f) and h.x0 == 2.0
        assert h.__annotations__ == f.__annotations__
    assert g(1.0) == 4.0 and f.calls == 1
    assert g(1.0, k=1) == 2.0 and f.calls == 2


def test_what_needs_no_rebuilding_is_the_function_itself():
    def square(x):
        return x * x

    assert Rebinding(square).current() is square
    assert Rebinding(len).current() is len and rebind(len)([1]) == 1
    assert Rebinding(textwrap.dedent).current() is textwrap.dedent  # Python's own
    assert Rebinding(np.fft.fftfreq).current() is np.fft.fftfreq
    assert Rebinding(codipy.grad).current() is codipy.grad
    assert Rebinding(functools.wraps).current() is functools.wraps


def test_rebind_is_found_again_and_dies_with_the_function():
    assert rebind(allocates) is rebind(allocates) and rebind(rebind(allocates)) is rebind(allocates)

    def local(x):
        return np.zeros(2)[0] + x

    g = rebind(local)
    g(1.0)
    references = weakref.ref(local), weakref.ref(g)
    del g
    local = None
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_rebound_functions_in_rebound_functions():
    namespace = made("""
        import numpy as np
        @rebind
        def inner(x):
            z = np.zeros(1)
            z[0] = x * x
            return z[0]
        def outer(x):
            return inner(x) + rebind(lambda t: np.full(1, t)[0])(x) + rebind(again)(x)
        def again(x):
            return inner(x)
    """, rebind=rebind)  # fmt: skip
    assert slope(namespace["outer"], 3.0) == (21.0, 13.0)
    assert slope(namespace["inner"], 3.0) == (9.0, 6.0)


def test_long_chains_of_functions():
    source = "import numpy as np\n" + "\n".join(
        f"def f{k}(x, n):\n    return f{k + 1}(x, n + 1) if n < 3 else stored(x)" for k in range(2000)
    )
    namespace = made(source + "\ndef stored(x):\n    z = np.zeros(1)\n    z[0] = x\n    return z[0]\nf2000 = f0")
    for name in ("f0", "f1000", "f1998"):
        f = namespace[name]
        assert slope(lambda x, f=f: f(x, 0) * x, 3.0) == (9.0, 6.0)


def test_proxies_are_not_asked_what_they_are():
    class Unbound:
        @property
        def __class__(self):
            raise RuntimeError("outside of a request")

    proxy = Unbound()

    def f(x):
        return filled(x)[1] if proxy is not None else 0.0

    check(f)


T = TypeVar("T")


def test_type_variables_are_objects_like_others():
    """In Python 3.12 they are objects of C that have attributes and no ``__dict__``."""

    def f(x):
        y = cast(T, x) * [T.__bound__ or 3.0][0]
        return math.sin(y)

    assert codipy.grad(f)(2.0) == 3.0 * math.cos(6.0)


def test_coroutines_are_left_alone():
    async def f(x):
        return np.zeros(1)[0] + x

    assert asyncio.run(rebind(f)(2.0)) == 2.0
    assert Rebinding(f).current() is f


def test_a_function_that_deletes_a_global_is_left_alone():
    namespace = made("a = 1\ndef f(x):\n    global a\n    del a\n    return float(x)")
    assert Rebinding(namespace["f"]).current() is namespace["f"]
    assert rebind(namespace["f"])(2.0) == 2.0 and "a" not in namespace


def test_arguments_that_are_functions():
    def apply(f, x, *, g=None):
        return f(x) if g is None else g(f(x))

    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(3.0))
        assert rebind(apply)(lambda t: filled(t)[1], x).is_active
        assert rebind(apply)(allocates, x, g=from_imports).is_active
    assert rebind(apply)(len, [1, 2]) == 2


def test_threads():
    results, errors = [], []

    def work(k):
        try:
            for _ in range(20):
                assert slope(allocates, float(k)) == (3.0 * k * k, 6.0 * k)
            results.append(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and sorted(results) == [1, 2, 3, 4]


def test_wrong_arguments():
    with pytest.raises(TypeError, match="must be callable, got float"):
        rebind(2.0)
    with pytest.raises(TypeError, match="modules must be"):
        rebind(allocates, modules=[3])


def test_star_arguments_and_eval():
    def f(*args, **kwargs):
        total = eval("np.zeros(1)")
        total[0] = args[0] * kwargs["k"]
        return total[0]

    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(3.0))
        assert rebind(f)(x, k=2.0).value == 6.0
        assert rebind(lambda x: isinstance(np.zeros(npsum([1])), Array))(x)


def test_a_function_of_no_module():
    f = types.FunctionType(compile("np.zeros(1)", "nowhere", "eval"), {"np": np})
    with codipy.Tape():
        assert type(rebind(f)()) is Array and type(f()) is np.ndarray


@pytest.mark.parametrize("module", [None, 7, "of_nobody"])
def test_a_function_of_no_module_is_rebuilt_too(module):
    def f(x):
        return x * x if isinstance(x, float) else 100.0 * x

    f.__module__ = module
    assert codipy.value_and_grad(f)(3.0) == (9.0, 6.0)
