# SPDX-License-Identifier: Apache-2.0
"""Fewer cases than a product of lists has: every two values of two lists meet in one, and all cases of `auto` stay.

Most mistakes show under one value of one parameter, nearly all others where two meet; of three lists of ten there are
a thousand cases, and about a hundred in which every two values meet.
"""

import itertools

__all__ = ["among", "in_turn", "label", "of_each", "pairs"]


def pairs(*lists, whole=("auto",)):
    """Some cases of the product of the lists, in its order: every value of one meets every value of another.

    Parameters
    ----------
    *lists : sequences
        The values of each parameter. Those of the first are strategies, or pairs of a strategy and a granularity, if
        `whole` is to mean anything.
    whole : tuple, optional
        Strategies of which every case stays.

    Returns
    -------
    list of tuples
        The same ones each time, for ``pytest.mark.parametrize(("strategy", "place", "way"), pairs(...))``.
    """
    return among(itertools.product(*lists), whole)


def in_turn(strategies, *lists, others=1):
    """Every case of the product of the lists under `auto`, and under others in turn: for many cases of one kind.

    Parameters
    ----------
    strategies : sequence
        Strategies, or pairs of a strategy and a granularity.
    *lists : sequences
        The values of each other parameter.
    others : int, optional
        Under how many of the other strategies a case is run; the next case is run under the next ones.

    Returns
    -------
    list of tuples
        A strategy and a case each.
    """
    always = [value for value in strategies if _strategy(value) == "auto"]
    rest = [value for value in strategies if value not in always]
    cases = list(itertools.product(*lists))
    return [(strategy, *case) for k, case in enumerate(cases)
            for strategy in (*always, *(rest[(k * others + i) % len(rest)] for i in range(others)))]  # fmt: skip


def among(cases, whole=("auto",)):
    """The same of any list of cases, such as a product without what cannot be: every pair that is in one stays in one.
    """
    cases = list(cases)
    met = [_met(case) for case in cases]
    kept = {k for k, case in enumerate(cases) if case and _strategy(case[0]) in whole}
    seen = set().union(*(met[k] for k in kept))
    # Those first that have the most new pairs. What a case adds can only become less, so a pass for each number is
    # the same as a search for the best at each step.
    for wanted in range(max(map(len, met), default=0), 0, -1):
        for k, new in enumerate(met):
            if k not in kept and len(new - seen) >= wanted:
                kept.add(k)
                seen |= new
    return [case for k, case in enumerate(cases) if k in kept]


def of_each(groups, turn, turns):
    """The first of each group, and of the others every so many: tests that begin at another turn take other ones.

    Parameters
    ----------
    groups : iterable of sequences
        The cases of each function.
    turn, turns : int
        Of the cases that are not the first of a group, those whose number is `turn`, `turn + turns`, ...
    """
    found, number = [], 0
    for group in groups:
        for k, case in enumerate(group):
            if k == 0 or number % turns == turn:
                found.append(case)
            number += k > 0
    return found


def label(value):
    """How a value is named in a test's identifier; None where pytest knows."""
    if isinstance(value, tuple) and value:
        return "-".join(map(str, value)) if isinstance(value[0], str) else label(value[0])
    return getattr(value, "name", None)


def _strategy(value):
    """The strategy that a value names, else None."""
    name = value[0] if isinstance(value, tuple) and value else value
    return name if isinstance(name, str) else None


def _met(case):
    """Which values meet in a case, by the places of two parameters; of one parameter alone, its value."""
    keys = list(enumerate(map(_key, case)))
    return set(itertools.combinations(keys, 2)) if len(keys) > 1 else set(keys)


def _key(value):
    """Something to find a value by: arrays and lists have no hash, and are themselves wherever they occur."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
