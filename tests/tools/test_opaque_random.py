# SPDX-License-Identifier: Apache-2.0
"""Random objects that hold functions, and random changes of them between two calls: each call is the plain run.

What was built or put somewhere is reached by a random path, through attributes, items and sets, as a global variable,
a cell, a default, an argument, or what an object with a twin has.
"""

import collections
import functools
import math
import random
import types

import pytest

import codipy

AT = 0.7


def made(k):
    def f(v):
        factor = 1.0 if isinstance(v, float) else 100.0
        return v * (k + 1) * factor + math.sin(v) * (1.0 if type(v) is float else 50.0)

    return f


FUNCTIONS = [made(k) for k in range(6)]


class Calls:
    __slots__ = ()

    def call(self, v):
        return v * 3 * (1.0 if isinstance(v, float) else 100.0)


class Twin(Calls):
    pass


class Untouched:
    pass


class Slots(Calls):
    __slots__ = ("a", "b", "c")


class Finalised(Calls):
    def __del__(self):
        pass


class Listed(Calls, list):
    pass


Pair = collections.namedtuple("Pair", "a b")
OBJECTS = (Twin, Slots, Finalised, Listed)
ATTRIBUTED = (types.SimpleNamespace, Twin, Untouched, Slots, Finalised)


def leaf(choice):
    kind = choice.randrange(8)
    if kind < 3:
        return choice.choice(FUNCTIONS)
    if kind == 3:
        return functools.partial(choice.choice(FUNCTIONS))
    if kind < 6:
        one = choice.choice(OBJECTS)()
        return one.call if kind == 4 else one
    return float(choice.randrange(5)) if kind == 6 else made(choice.randrange(20))


def built(choice, depth):
    if not depth:
        return leaf(choice)
    names = "abc"[: choice.randrange(1, 4)]
    parts = [built(choice, depth - 1) for _ in names]
    kind = choice.randrange(9)
    if kind < 5:
        return (list, tuple, collections.deque, Listed, lambda parts: Pair(*(parts * 2)[:2]))[kind](parts)
    if kind == 5:
        return dict(zip(names, parts))
    if kind == 6:
        return {choice.choice(FUNCTIONS)}
    one = choice.choice(ATTRIBUTED)()
    for name, part in zip(names, parts):
        setattr(one, name, part)
    return one


def steps_from(one):
    if isinstance(one, (list, tuple, collections.deque)):
        return list(range(len(one)))
    if isinstance(one, (dict, set)):
        return list(one) if isinstance(one, dict) else [None] * (len(one) == 1)
    return [name for name in "abc" if hasattr(one, name)] if isinstance(one, ATTRIBUTED) else []


def step(one, where):
    if isinstance(one, set):
        return next(iter(one))
    return getattr(one, where) if isinstance(one, ATTRIBUTED) else one[where]


def use(one, path, v):
    for where in path:
        if where is None:
            one = [part for part in one][0]  # noqa: C416
        elif isinstance(one, (list, tuple, dict, collections.deque)):
            one = one[where]
        else:
            one = one.a if where == "a" else one.b if where == "b" else one.c
    if isinstance(one, Calls):
        return one.call(v)
    return one(v) if callable(one) else one * v if isinstance(one, float) else v


def walk(choice, one):
    path = []
    while steps := steps_from(one):
        path.append(choice.choice(steps))
        one = step(one, path[-1])
    return path


def change(choice, root):
    """Put something new into one of all the objects."""
    found = [root]
    for one in found:
        found += [step(one, where) for where in steps_from(one)]
    one = choice.choice([one for one in found if not isinstance(one, tuple)])
    new = built(choice, choice.randrange(2))
    if isinstance(one, (list, collections.deque)):
        one.append(new)
        one[choice.randrange(len(one))] = new
    elif isinstance(one, dict):
        one[choice.choice("abc")] = new
    elif isinstance(one, set):
        one.clear()
        one.add(made(7))
    elif isinstance(one, ATTRIBUTED):
        setattr(one, choice.choice("abc"), new)


ROOT, PATH = None, []


def through_a_global(v):
    return use(ROOT, PATH, v)


def drivers_of(root, path):
    """For each way to come upon the root a call of a driver, and the plain run."""
    holder = Twin()
    holder.held, late = root, root
    functions = [
        through_a_global, lambda v: use(root, path, v), lambda v, one=root: use(one, path, v),
        functools.partial(lambda one, v: use(one, path, v), root), lambda v: use(holder.held, path, v),
        lambda v: use(late, path, v) * codipy.value_and_grad(through_a_global)(AT)[0],
    ]  # fmt: skip

    def writes(v):
        nonlocal late
        late = late
        return use(late, path, v)

    def of_argument(v, one):
        return use(one, path, v)

    calls = [(codipy.value_and_grad(f), f) for f in (*functions, writes)]
    of_root = codipy.value_and_grad(of_argument)
    return [*calls, (lambda v: of_root(v, root), lambda v: of_argument(v, root))]


@pytest.mark.parametrize("seed", range(12))
def test_each_call_is_the_plain_run(seed):
    global ROOT
    choice = random.Random(seed)
    try:
        for _ in range(6):
            ROOT = built(choice, choice.randrange(1, 4))
            drivers = drivers_of(ROOT, PATH)
            for _ in range(5):
                PATH[:] = walk(choice, ROOT)
                for gradient, f in choice.sample(drivers, 3):
                    assert gradient(AT)[0] == pytest.approx(f(AT), rel=1e-14)
                change(choice, ROOT)
    finally:
        ROOT = None
