# SPDX-License-Identifier: Apache-2.0
"""How many bytes does the tape of the coupled Burgers' equation take, beside the fields themselves?"""
from bench_flat_memory import resident
from timing import Figure


def burgers_bytes(name="burgers"):
    """Statistics of the tape after recording and after a sweep, bytes of the fields of all steps, resident growth."""
    import array_checks
    import array_points

    import codipy

    point = array_points.POINTS[name]
    *start, steps = point.start(point.size)
    tape = codipy.Tape(strategy="auto")
    before = resident()
    with tape:
        u, v = (tape.register_input(codipy.Array(values)) for values in start)
        result = tape.register_output(point.function(u, v, steps))
    grown, recorded, fields = resident() - before, tape.statistics(), steps * sum(values.nbytes for values in start)
    result.gradient = 1.0
    tape.evaluate()
    array_checks.check_direction(point, (*start, steps), float(result.value), (u.gradient, v.gradient))
    if recorded.total.used < 0.9 * fields:
        raise AssertionError(f"the statistics leave something out: {recorded.total.used} bytes, and {fields} bytes of "
                             "values that the reverse sweep reads")
    return recorded, tape.statistics(), fields, grown


def measure():
    """Megabytes in use after recording."""
    recorded, swept, fields, grown = burgers_bytes()
    fill = burgers_bytes("burgers-fill")[0].total.used
    parts = ", ".join(f"{section.title} {section.memory.used / 1e6:.1f}" for section in recorded.sections
                      if section.memory.used >= 5e4)
    detail = (f"{parts}; fields of all steps {fields / 1e6:.1f}; with the sweep's adjoints "
              f"{swept.total.used / 1e6:.1f}; resident memory grew by {grown / 1e6:.1f} while recording; "
              f"allocate and fill {fill / 1e6:.1f} MB")
    return Figure("tape of the coupled Burgers' equation 201x201, 32 steps", recorded.total.used / 1e6, 27.0,
                  unit=" MB", detail=detail, question="burgers-bytes")


QUESTIONS = {"burgers-bytes": measure}
