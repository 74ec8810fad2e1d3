# SPDX-License-Identifier: Apache-2.0
"""rebind and global variables: read, stored, and changed by others between two calls."""

import importlib
import math
import sys
import textwrap

import numpy as np
import pytest

import codipy
from codipy.tools.rebind import rebind
from tests.tools.rebound import slope


def filled(x):
    z = np.zeros(3)
    z[1] = x * x
    return z


def allocates(x):
    return filled(x)[1] * 3.0


def made(source, **names):
    """Names made by exec, without a file or a module."""
    namespace = dict(names)
    exec(textwrap.dedent(source), namespace)
    return namespace


def test_mutable_globals_and_global_statements_are_shared():
    namespace = made("""
        import numpy as np
        import math
        calls, log, new = 0, [], None
        def f(x):
            global calls, new
            calls += 1
            log.append(calls)
            new = "set"
            assert calls == read() and globals() is module
            z = np.zeros(1)
            z[0] = math.sin(x) * calls
            return z[0]
        def read():
            return calls
        def numbers(x):
            global calls
            for _ in range(3):
                z = np.zeros(1)
                z[0] = x
                calls += 1
                yield z[0]
        def stops(x):
            global calls
            calls = -1
            raise ValueError("stop")
    """)
    namespace["module"] = namespace
    f = rebind(namespace["f"])
    assert f(2.0) == math.sin(2.0) and namespace["calls"] == 1 == namespace["read"]()
    namespace["calls"] = 10
    assert f(2.0) == math.sin(2.0) * 11 and namespace["log"] == [1, 11] and namespace["new"] == "set"
    assert slope(namespace["f"], 2.0)[1] == pytest.approx(12 * math.cos(2.0))
    seen = []
    for value in rebind(namespace["numbers"])(2.0):
        seen.append((value, namespace["calls"]))
    assert seen == [(2.0, 13), (2.0, 14), (2.0, 15)]
    with pytest.raises(ValueError, match="stop"):
        rebind(namespace["stops"])(1.0)
    assert namespace["calls"] == -1


def test_generators_that_store_globals_take_what_is_sent_and_thrown():
    namespace = made("""
        import numpy as np
        state = []
        def g(x):
            global last
            try:
                got = yield np.ones(1)[0] * x
                last = got
                try:
                    yield "second"
                except KeyError:
                    last = "thrown"
                    yield "caught"
                return "end"
            finally:
                state.append("closed")
    """)
    g = rebind(namespace["g"])
    generator = g(2.0)
    assert next(generator) == 2.0 and generator.send(5) == "second" and namespace["last"] == 5
    assert generator.throw(KeyError("k")) == "caught" and namespace["last"] == "thrown"
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "end"
    generator = g(2.0)
    next(generator)
    generator.close()
    assert namespace["state"] == ["closed", "closed"]


def test_names_that_change_between_calls(monkeypatch):
    namespace = made("""
        import numpy as np
        def f(x):
            return later(x) * factor
    """)
    f = rebind(namespace["f"])
    with pytest.raises(NameError, match="later"):
        f(2.0)
    exec("factor = 2.0\ndef later(x):\n    z = np.zeros(1)\n    z[0] = x\n    return z[0]", namespace)
    assert f(3.0) == 6.0 and slope(namespace["f"], 3.0) == (6.0, 2.0)
    namespace["factor"] = 5.0
    assert f(3.0) == 15.0
    namespace["factor"] = [1.0]
    with pytest.raises(TypeError):
        f(3.0)
    namespace["factor"] = 1.0
    namespace["later"] = lambda x: -x
    assert f(3.0) == -3.0
    del namespace["later"]
    with pytest.raises(NameError, match="later"):
        f(2.0)
    monkeypatch.setattr(sys.modules[__name__], "filled", lambda x: [0.0, 7.0 * x])
    assert rebind(allocates)(2.0) == 42.0
    monkeypatch.undo()
    assert rebind(allocates)(2.0) == 12.0


def test_a_module_level_one_is_not_true():
    namespace = made("flag = 1\ndef f(x):\n    float\n    return flag")
    f = rebind(namespace["f"])
    assert f(0) == 1 and f(0) is not True
    namespace["flag"] = True
    assert f(0) is True
    values = [1.0, 2.0]
    namespace["flag"] = values
    assert f(0) is values
    namespace["flag"] = list(values)
    assert f(0) is not values


def test_caches_are_those_of_one_run():
    namespace = made("""
        import numpy as np, functools
        size, made = 2, []
        @functools.lru_cache(maxsize=None)
        def table(n):
            made.append(n)
            return np.full(n, float(size))
        @functools.lru_cache
        def fibonacci(n):
            float(n)
            return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
        def f(x):
            return (table(2)[0] + table(2)[1]) * x + fibonacci(60)
    """)
    f = rebind(namespace["f"])
    assert f(1.0) == 4.0 + 1548008755920 and namespace["made"] == [2]
    namespace["size"] = 3
    namespace["table"].cache_clear()
    assert f(1.0) == 6.0 + 1548008755920 and namespace["made"] == [2, 2]


class Proxy:
    """Passes for what it holds, and counts who asks it."""

    asked = []

    def __init__(self, shown):
        object.__setattr__(self, "shown", shown)

    def __getattr__(self, name):
        self.asked.append(name)
        if name == "fget":
            raise RuntimeError("no fget")
        return getattr(object.__getattribute__(self, "shown"), name)

    @property
    def __class__(self):
        return type(self.shown)

    def __call__(self, *args):
        return self.shown(*args)


proxied = Proxy(lambda x: np.zeros(2) + x)


def by_proxy(x):
    global stored
    stored = 1.0
    return proxied(x).sum() * stored


def test_proxies_of_a_module_are_not_asked():
    Proxy.asked.clear()  # pytest asked
    assert codipy.value_and_grad(by_proxy)(0.7) == (1.4, 2.0)
    assert not Proxy.asked


VALUE, SLOPE = 1.0, lambda x: x


def set_item(name, value):
    globals()[name] = value


def set_all(name, value):
    globals().update({name: value})


def set_by_vars(name, value):
    vars(importlib.import_module(__name__))[name] = value


def set_attribute(name, value):
    setattr(sys.modules[__name__], name, value)


def set_by_exec(name, value):
    exec(f"{name} = NEW[0]", globals())


def set_by_pop(name, value):
    globals().pop(name)
    globals().setdefault(name, value)


def set_in_modules(name, value):
    if name == "VALUE":
        sys.modules[__name__].VALUE = value
    else:
        sys.modules.get(__name__).SLOPE = value


def set_in_what_is_imported(name, value):
    module = importlib.import_module(__name__)
    if name == "VALUE":
        module.VALUE = value
    else:
        module.SLOPE = value


NEW = [None]
SETS = [set_item, set_all, set_by_vars, set_attribute, set_by_exec, set_by_pop, set_in_modules, set_in_what_is_imported]


@pytest.mark.parametrize("sets", SETS)
def test_globals_that_are_set_by_their_dict_or_module(sets, monkeypatch):
    monkeypatch.setitem(globals(), "VALUE", 1.0)
    monkeypatch.setitem(globals(), "SLOPE", SLOPE)

    def f(x):
        before = VALUE * SLOPE(x)
        for name, value in (("VALUE", 2.0), ("SLOPE", lambda x: filled(x)[1])):
            NEW[0] = value
            sets(name, value)
        return before + VALUE * SLOPE(x) + np.zeros(2)[0]

    assert codipy.value_and_grad(f)(3.0) == (3.0 + 2.0 * 9.0, 1.0 + 2.0 * 6.0)


MODULES = {
    "item": lambda: sys.modules[__name__],
    "get": lambda: sys.modules.get(__name__),
    "values": lambda: next(module for name, module in sys.modules.items() if name == __name__),
    "import_module": lambda: importlib.import_module(__name__),
    "__import__": lambda: __import__(__name__, fromlist=["filled"]),
}


@pytest.mark.parametrize("name", MODULES)
def test_functions_are_rebuilt_that_are_taken_from_a_module_by_its_name(name):
    def f(x):
        module, maths = MODULES[name](), sys.modules["math"]
        return module.filled(x)[1] * getattr(module, "filled")(x)[1] * maths.exp(x)  # noqa: B009

    value, slope = codipy.value_and_grad(f)(1.5)
    assert value == f(1.5)
    assert slope == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6, rel=1e-7)


EVALUATED = {
    "eval": lambda x: eval("v * v if isinstance(v, float) else v", {"v": x}),
    "exec": lambda x: exec("found = v * v if isinstance(v, float) else v", names := {"v": x}) or names["found"],
    "again": lambda x: exec("k = 2", names := {"v": x}) or eval("v ** k if isinstance(v, float) else v", names),
}


@pytest.mark.parametrize("name", EVALUATED)
def test_what_is_evaluated_with_names_of_its_own_takes_the_branch(name):
    assert codipy.value_and_grad(EVALUATED[name])(3.0) == (9.0, 6.0)


def test_a_global_that_is_deleted_by_its_dict(monkeypatch):
    monkeypatch.setitem(globals(), "VALUE", 1.0)

    def f(x):
        y = x * VALUE + np.zeros(1)[0]
        delattr(sys.modules[__name__], "VALUE")
        try:
            return y * VALUE
        except NameError:
            return y * 5.0

    assert codipy.value_and_grad(f)(3.0) == (15.0, 5.0)


def test_vars_without_an_argument():
    def f(x):
        y = np.zeros(1)[0] + 2.0 * x  # noqa: F841
        return vars()["y"] * x

    assert codipy.value_and_grad(f)(3.0) == (18.0, 12.0)
