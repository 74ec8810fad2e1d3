# SPDX-License-Identifier: Apache-2.0
"""Makes a failing program short: steps and lines are left out while it still fails in the same way."""

import re


def shrink(program, fails):
    """The shortest found for which `fails(program)` holds."""
    if not fails(program):
        return program
    shorter = True
    while shorter:
        shorter = False
        for candidate in candidates(program):
            if compiles(candidate) and fails(candidate):
                program, shorter = candidate, True
                break
    return program


def candidates(program):
    """Programs that are a little shorter."""
    steps = program.steps
    for k in range(len(steps)):
        yield program.but(steps=steps[:k] + steps[k + 1 :])
    for k, step in enumerate(steps):
        if len(step) > 1:
            for i in range(len(step)):
                yield program.but(steps=[*steps[:k], step[:i] + step[i + 1 :], *steps[k + 1 :]])
            if step[0].startswith(("with", "for", "if", "try")):
                yield program.but(
                    steps=[*steps[:k], [line[4:] for line in step if line.startswith("    ")], *steps[k + 1 :]]
                )
    for k in range(len(program.helpers)):
        yield program.but(helpers=program.helpers[:k] + program.helpers[k + 1 :])
    for k, helper in enumerate(program.helpers):
        for i in range(1, len(helper) - 1):
            yield program.but(helpers=[*program.helpers[:k], helper[:i] + helper[i + 1 :], *program.helpers[k + 1 :]])
    for part in re.split(r" \+ |, ", program.result.strip("(), ")):
        if part != program.result and len(part) < len(program.result):
            yield program.but(result=part)
    count = len(program.inputs)
    if count > 1 and f"x{count - 1}" not in program.source.partition(":")[2]:
        yield program.but(inputs=program.inputs[:-1])


def compiles(program):
    try:
        compile(program.source, "<fuzz>", "exec")
    except SyntaxError:
        return False
    return True
