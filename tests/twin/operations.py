# SPDX-License-Identifier: Apache-2.0
"""Values and partials for the twin: straight from the table's rows, by Python's own callables."""

from codipy.operations import BY_NAME
from codipy.operations.callables import python_callable
from codipy.operations.helpers import evaluate


def value(name, numbers):
    """The operation as plain Python computes it."""
    return python_callable(BY_NAME[name].python)(*numbers)


def partials(name, numbers, result):
    """d operation / d argument, for every argument."""
    padded = (*numbers, 0.0, 0.0)[:3]
    return [evaluate(expression, *padded, result) for expression in BY_NAME[name].partials]


# An expression is a leaf, ACTIVE or PASSIVE, or a tuple (operation, *operands).
ACTIVE, PASSIVE = "u", "c"


def leaves(expression):
    """The leaves from left to right."""
    return [expression] if isinstance(expression, str) else [leaf for part in expression[1:] for leaf in leaves(part)]


def length(expression):
    """How many operations."""
    return 0 if isinstance(expression, str) else 1 + sum(map(length, expression[1:]))


def text(expression, counters=None):
    """As codipy describes a program: leaves numbered from left to right."""
    counters = counters if counters is not None else {ACTIVE: 0, PASSIVE: 0}
    if isinstance(expression, str):
        counters[expression] += 1
        return f"{expression}{counters[expression] - 1}"
    return f"{expression[0]}({', '.join(text(part, counters) for part in expression[1:])})"


def jacobian(expression, numbers):
    """d expression / d leaf at the leaves' values, by the chain rule from the root down."""
    queue = list(numbers)

    def run(part):  # (value, operation, operands) of each node
        if isinstance(part, str):
            return (queue.pop(0), None, [])
        operands = [run(operand) for operand in part[1:]]
        return (value(part[0], [operand[0] for operand in operands]), part[0], operands)

    def spread(node, bar):
        result, name, operands = node
        if name is None:
            return [bar]
        slopes = partials(name, [operand[0] for operand in operands], result)
        spreads = [spread(operand, 0.0 if 0.0 in (bar, slope) else bar * slope)
                   for operand, slope in zip(operands, slopes, strict=True)]  # fmt: skip
        return [x for part in spreads for x in part]

    return spread(run(expression), 1.0)
