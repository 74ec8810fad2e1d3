# SPDX-License-Identifier: Apache-2.0
"""Runs random programs: `python -m tests.fuzz --count N --seed S`; prints each that fails, as short as it gets."""

import argparse
import collections
import sys
import time

from tests.fuzz.called import judge_call
from tests.fuzz.functions import KINDS, write_call
from tests.fuzz.generator import FEW_STEPS, MOST_STEPS, write
from tests.fuzz.judge import WIDTHS, judge, some_variants
from tests.fuzz.second import judge_second
from tests.fuzz.shrink import shrink
from tests.fuzz.solved import judge_solved, write_solved
from tests.fuzz.sparse import judge_sparse
from tests.fuzz.steps import STEPS
from tests.strategies import STRATEGIES, VARIANTS

DRIVEN = 4  # of so many programs one runs under a driver too
SMALL_DRIVEN = 40  # likewise of small ones


def main(arguments=None):
    """Exit status 1 where a program failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Random NumPy programs under codipy.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument(
        "--strategy", action="append", choices=STRATEGIES, help="these beside auto; default: one in turn"
    )
    parser.add_argument("--auto", action="store_true", help="auto alone, beside itself without reuse")
    parser.add_argument("--all", action="store_true", help="every strategy and granularity for every program")
    parser.add_argument("--small", action="store_true", help="--auto for programs of few steps: some hundred a second")
    parser.add_argument("--most", type=int, default=10, help="stop after so many kinds of failures")
    parser.add_argument("--show", action="store_true", help="print the programs, do not run them")
    parser.add_argument(
        "--single", action="store_true", help="float32: NumPy's bits, the gradient of the double program"
    )
    parser.add_argument("--second", action="store_true", help="second derivatives, of programs on arrays of their own")
    parser.add_argument("--sparse", action="store_true", help="sparse derivatives, likewise")
    parser.add_argument("--calls", action="store_true", help="calls of NumPy's functions, real, complex, float32")
    parser.add_argument("--solved", action="store_true", help="functions of solvers, which keep and fill arrays")
    parser.add_argument("--inside", action="store_true", help="no arrays of the module are read")
    parser.add_argument("--only", action="append", default=[], help="steps that are written; default: all")
    parser.add_argument("--without", action="append", default=[], help="steps that are not written, by name")
    options = parser.parse_args(arguments)
    if options.calls:
        return run_alone(options, lambda seed, k: write_call(seed, KINDS[k % len(KINDS)]), judge_call)
    if options.solved:
        return run_alone(options, lambda seed, k: write_solved(seed), judge_solved)
    steps = [step for step in STEPS if step[1].__name__ not in options.without]
    if options.only:
        steps = [step for step in steps if step[1].__name__ in options.only]
    alone = judge_second if options.second else judge_sparse if options.sparse else None
    ask = (lambda program, variants, **rules: alone(program)) if alone else judge
    most_steps, driven = (FEW_STEPS, SMALL_DRIVEN) if options.small else (MOST_STEPS, DRIVEN)
    counts, shown, started = collections.Counter(), set(), time.monotonic()
    for k in range(options.first, options.first + options.count):
        program = write(f"{options.seed}:{k}", steps, not (options.inside or alone), most_steps)
        if options.show:
            print(program.source)
            continue
        variants = some_variants(k, 0 if options.auto or options.small else 1)
        if options.all or options.strategy:
            variants = [v for v in VARIANTS if options.all or v[0] in options.strategy]
        rules = {"single": options.single, "driven": k % driven == 0, "widths": () if options.small else WIDTHS}
        try:
            finding = ask(program, variants, **rules)
        except KeyboardInterrupt:
            break
        counts["programs"] += 1
        if finding is None:
            continue
        counts[finding.kind] += 1
        label = (finding.kind, finding.said[:40] if finding.kind[0].isupper() else "")
        if finding.refused or label in shown and finding.kind[0].isupper():
            continue
        shown.add(label)
        small = shrink(
            program,
            lambda p, kind=finding.kind, v=variants, r=rules: (ask(p, v, **r) or finding_of_none).kind == kind,
        )
        print(f"# {options.seed}:{k} {finding.kind}: {ask(small, variants, **rules).said[:400]}")
        for i, x in enumerate(small.inputs):
            print(f"# x{i}: shape {x.shape}")
        print(small.source, flush=True)
        if sum(n for kind, n in counts.items() if kind not in ("programs", "refused")) >= options.most:
            break
    taken = time.monotonic() - started
    print(f"{dict(counts)} in {taken:.0f} s", flush=True)
    return int(any(kind not in ("programs", "refused") for kind in counts))


def run_alone(options, write, judge):
    """Exit status 1 where a call or a source is wrong; each kind of failure of a function is printed once."""
    counts, shown, started = collections.Counter(), set(), time.monotonic()
    try:
        for k in range(options.first, options.first + options.count):
            written = write(f"{options.seed}:{k}", k)
            source = getattr(written, "source", written)
            if options.show:
                print(source)
                continue
            finding = judge(written)
            counts["programs"] += 1
            if finding is not None:
                counts[finding.kind] += 1
                label = finding.kind, getattr(written, "function", k)
                if not finding.refused and label not in shown:
                    shown.add(label)
                    print(f"# {options.seed}:{k} {finding.kind}: {finding.said[:400]}\n{source}", flush=True)
                    if len(shown) >= options.most:
                        break
    except KeyboardInterrupt:
        pass
    print(f"{dict(counts)} in {time.monotonic() - started:.0f} s", flush=True)
    return int(bool(shown))


class finding_of_none:
    kind = None


if __name__ == "__main__":
    sys.exit(main())
