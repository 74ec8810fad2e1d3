# SPDX-License-Identifier: Apache-2.0
"""rebind across modules and packages: whose code is rebuilt, state of modules, imports, installed libraries."""

import functools
import importlib
import math
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.tools.rebind import Rebinding, rebind
from codipy.tools.rebinding.scope import Scope, home_of
from tests.tools.rebound import slope

FILES = {
    "app/__init__.py": "from .physics import flux\nVERSION = 1\n",
    "app/config.py": "dt = 0.5\nfactors = [1.0]\ndef doubled():\n    return 2 * dt\n",
    "app/physics.py": """
        import math
        import numpy as np
        from . import config
        from app.deep import kernel as k
        import helper

        def flux(u):
            z = np.zeros(2)
            z[0] = math.exp(u) * config.dt
            return z[0] + k.apply(u) + helper.shift(u)

        def steps(u, dt):
            config.dt = dt
            config.factors.append(dt)
            return config.dt * u + config.doubled()

        def lazily(u):
            from . import late
            from .late import other
            import app.deep.kernel
            assert app.deep.kernel.apply is k.apply and late.other is other
            return late.late(u) + other(u)
    """,
    "app/deep/__init__.py": "",
    "app/deep/kernel.py": """
        from numpy import ones
        def apply(u):
            z = ones(1)
            z[0] = u * u
            return z[0]
    """,
    "app/late.py": """
        import numpy
        def late(u):
            z = numpy.full(2, u)
            return z[1] * 2.0
        def other(u):
            z = numpy.empty(1)
            z[0] = u
            return z[0]
    """,
    "helper.py": """
        import numpy as np
        def shift(u):
            z = np.zeros(1)
            z[0] = u + 1.0
            return z[0]
    """,
    "site-packages/library/__init__.py": """
        import functools
        import numpy as np
        from library.inner import stored
        def shift(u):
            return stored(u) + 1.0
        def decorate(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args) * 2.0
            return wrapper
        def call(f, x):
            return f(x)
    """,
    "site-packages/library/inner.py": """
        import numpy as np
        def stored(u):
            z = np.zeros(1)
            z[0] = u
            return z[0]
    """,
    "user.py": """
        import numpy as np
        import library
        from library import decorate, shift
        def foreign(x):
            return library.shift(x) * shift(x)
        @decorate
        def decorated(x):
            z = np.zeros(1)
            z[0] = x
            return z[0]
        def callback(x):
            return library.call(decorated, x)
    """,
}


@pytest.fixture
def imports(tmp_path, monkeypatch):
    """Import a module of FILES by name; all are forgotten in the end."""
    for name, source in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("app", "helper", "library", "user"):
            del sys.modules[name]


def test_a_package_and_its_neighbours(imports):
    flux = imports("app").flux
    assert slope(flux, 1.5) == (flux(1.5), pytest.approx(0.5 * math.exp(1.5) + 3.0 + 1.0))


def test_modules_keep_their_state(imports):
    physics, config = imports("app.physics"), imports("app.config")
    f = rebind(physics.steps)
    assert f(3.0, 0.25) == 0.25 * 3.0 + 0.5 and config.dt == 0.25 and config.factors == [1.0, 0.25]
    assert f(3.0, 2.0) == 10.0 and config.dt == 2.0
    config.dt = 7.0
    assert rebind(physics.flux)(0.0) == 8.0 == physics.flux(0.0)
    config.doubled = lambda: 100.0
    assert f(3.0, 2.0) == 106.0
    assert physics.config is config and physics.np is np


def test_imports_inside_of_functions(imports):
    lazily = imports("app.physics").lazily
    assert slope(lazily, 3.0) == (9.0, 3.0)
    assert type(imports("app.late").other(1.0)) is np.float64  # what others import is unchanged


def test_a_module_that_is_reloaded(imports, tmp_path):
    late, lazily = imports("app.late"), imports("app.physics").lazily
    f = rebind(lazily)
    assert f(3.0) == 9.0
    (tmp_path / "app" / "late.py").write_text("late = other = float\n# longer than it was\n" * 9, encoding="utf-8")
    importlib.invalidate_caches()
    importlib.reload(late)
    assert f(3.0) == 6.0 == lazily(3.0)


def test_installed_libraries_only_when_asked_for(imports):
    user = imports("user")
    with pytest.raises(TypeError):
        slope(user.foreign, 3.0)
    for modules in ("library", ["library"], (imports("library"),)):
        assert slope(user.foreign, 3.0, modules=modules) == (16.0, 8.0)
    with pytest.raises(TypeError):  # shift is rebuilt, but what it calls is not
        slope(user.foreign, 3.0, modules=["library.inner"])
    assert user.foreign(3.0) == 16.0


def test_the_author_of_a_library_may_rebind_it(imports):
    assert slope(imports("library").shift, 3.0) == (4.0, 1.0)


def test_decorators_and_callbacks_of_a_library(imports):
    user = imports("user")
    assert slope(user.decorated, 3.0) == (6.0, 2.0)
    assert slope(user.callback, 3.0) == (6.0, 2.0)
    assert user.decorated(3.0) == 6.0


def test_what_is_whose(imports):
    scope = Scope(None, ())
    assert all(map(scope.owns_module, (imports("app"), imports("helper"), sys.modules[__name__])))
    library = imports("library")
    assert not any(map(scope.owns_module, (math, sys, functools, np, np.linalg, codipy, codipy.numpy, library, pytest)))
    assert scope.owns_name("__main__", None) and scope.owns_name(None, None)
    assert Scope(None, ("library",)).owns_module(imports("library.inner"))
    assert not Scope(None, ("library.inner",)).owns_module(library)
    assert not Scope(None, ("numpy", "codipy")).owns_module(np)
    assert home_of(library.shift) == "library" and home_of(imports("app").flux) is None and home_of(len) is None


def test_a_module_of_python_when_asked_for():
    def f(x):
        import statistics

        return statistics.fmean([x, 3.0 * x])

    assert rebind(f, modules=["statistics"])(1.5) == 3.0


def test_a_module_seen_from_rebound_code_is_a_module(imports):
    app = imports("app")

    def look():
        import types

        seen = []
        app.extra = 5
        seen.append((isinstance(app, types.ModuleType), app.__name__, app.VERSION, app.extra, "flux" in dir(app)))
        del app.extra
        seen.append(hasattr(app, "extra"))
        return seen

    assert rebind(look)() == [(True, "app", 1, 5, True), False]
    assert not hasattr(app, "extra")


def test_the_variables_of_a_module_lead_to_what_the_module_does(imports):
    late, config = imports("app.late"), imports("app.config")

    def f(u):
        assert vars(config)["dt"] == config.dt and "nothing" not in vars(config)
        vars(config)["dt"] = 2.0
        config.__dict__.update(made=5.0)
        assert config.dt == 2.0 and config.made == 5.0 and vars(config).pop("made") == 5.0
        assert not hasattr(config, "made") and vars(config).setdefault("dt", 7.0) == 2.0
        return vars(late)["late"](u) + dict(late.__dict__)["other"](u) + late.__dict__.get("late")(u)

    assert slope(f, 3.0) == (2.0 * 3.0 + 3.0 + 2.0 * 3.0, 5.0)
    assert config.dt == 2.0 and not hasattr(config, "made")


def test_a_function_of_a_module_is_looked_up_once_and_followed(imports):
    config = imports("app.config")

    def twice():
        return [config.doubled(), config.doubled(), "doubled" in vars(config)]

    def exchanged(function):
        config.doubled = function
        return config.doubled()

    original, f = config.doubled, rebind(twice)
    assert f() == f() == [1.0, 1.0, True]
    config.doubled = lambda: 7.0
    assert f() == [7.0, 7.0, True]
    config.doubled = lambda: float(np.zeros(1)[0])
    with codipy.Tape():
        assert f() == [0.0, 0.0, True]
    assert rebind(exchanged)(original) == 1.0 and f() == [1.0, 1.0, True]


def test_scipy_is_scipy():
    scipy = pytest.importorskip("scipy")

    def f(x):
        import scipy.special as special
        from scipy.linalg import norm

        assert special.erf is scipy.special.erf
        return scipy.linalg.norm is norm and special is scipy.special

    assert rebind(f)(1.0)


def test_creation_functions_by_any_way(imports):
    import numpy
    from numpy import zeros as allocate

    def f():
        import numpy as local
        from numpy import zeros

        return [z(2) for z in (numpy.zeros, allocate, local.zeros, zeros, np.zeros, getattr(np, "zeros"))]  # noqa: B009

    assert {type(z) for z in rebind(f)()} == {np.ndarray}
    with codipy.Tape():
        assert {type(z) for z in rebind(f)()} == {Array}
        assert {type(z) for z in f()} == {np.ndarray}
        with codipy.passive():
            assert {type(z) for z in Rebinding(f).current()()} == {np.ndarray}


def has_by_attribute(name):
    return hasattr(math, name)


def has_by_import(name):
    try:
        from math import sumprod
    except ImportError:
        return name == "none"
    return bool(sumprod)


@pytest.mark.parametrize("asked", [
    lambda: hasattr(math, "sumprod"), lambda: hasattr(math, "maximum"), lambda: getattr(math, "fma", None) is None,
    lambda: has_by_attribute("sign"), lambda: has_by_import("sumprod"), lambda: dir(math), lambda: sorted(vars(math)),
    lambda: math.__name__, lambda: repr(math), lambda: dir(np), lambda: "version" in dir(np),
])  # fmt: skip
def test_what_a_module_has_is_what_it_has_in_the_plain_run(asked):
    assert rebind(asked)() == asked()


def test_modules_that_are_imported_before_the_first_driver_runs_are_replaced():
    text = ("import codipy\nfrom scipy.integrate import quad\n"
            "print(codipy.grad(lambda x: quad(lambda t: t * x, 0.0, 1.0)[0])(2.0))")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert float(done.stdout or "nan") == pytest.approx(0.5), done.stderr
