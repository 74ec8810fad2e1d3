# SPDX-License-Identifier: Apache-2.0
"""Does a statement take the bytes that the design allows, no more and no less, under every strategy?"""
from timing import Figure

STATEMENTS, ARGUMENTS, CONSTANTS = 1000, 3, 1
# Bytes of one statement with 3 arguments and 1 passive constant; values beside the streams included.
EXPECTED = {
    "jacobian": 12 * ARGUMENTS + 1,
    "jacobian-reuse": 12 * ARGUMENTS + 1 + 4,
    "primal": 4 + 4 * ARGUMENTS + 8 * CONSTANTS + 8,
    "primal-reuse": 4 + 4 * ARGUMENTS + 8 * CONSTANTS + 4 + 8,
}


def stream_bytes(strategy, statements):
    """Bytes that `statements` statements s = s*a + b*1.5 use in the streams, and the values of linear identifiers."""
    import codipy

    tape = codipy.Tape(strategy=strategy)
    with tape:
        s, a, b = (tape.register_input(v) for v in (1.0, 0.9, 0.1))
        before = tape.statistics()
        for _ in range(statements):
            s = s * a + b * 1.5
        tape.register_output(s)         # pushes the last one, and a copy
        grown = (tape.statistics() - before).to_dict()
    skipped = {"tape", "total", "adjoint vector", "identifiers"} | ({"primal values"} if "reuse" in strategy else set())
    return sum(part["used"] for title, part in grown.items() if title not in skipped)


def measure():
    """The largest difference from the design's bytes a statement; 0 is asserted."""
    found = {strategy: (stream_bytes(strategy, STATEMENTS + 1) - stream_bytes(strategy, 1)) / STATEMENTS
             for strategy in EXPECTED}
    detail = ", ".join(f"{strategy} {found[strategy]:g} (design {EXPECTED[strategy]})" for strategy in EXPECTED)
    worst = max(abs(found[strategy] - EXPECTED[strategy]) for strategy in EXPECTED)
    if worst:
        raise AssertionError(f"bytes per statement: {detail}")
    return Figure("bytes a statement, three arguments and a constant: difference from the design", worst, 0.0,
                  unit=" B", detail=detail, question="bytes")


QUESTIONS = {"bytes": measure}
