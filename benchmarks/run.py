# SPDX-License-Identifier: Apache-2.0
"""Prints every figure beside its target: `python benchmarks/run.py [QUESTION ...] [--markdown] [--peers]`."""
import argparse
import datetime
import importlib
import os
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
MODULES = ("bench_gradients", "bench_reused_tape", "bench_bandwidth", "bench_latency", "bench_first_recording",
           "bench_bytes", "bench_flat_memory", "bench_arrays", "bench_array_growth", "bench_growth",
           "bench_array_bytes", "bench_import", "bench_page_faults", "bench_changing_sizes", "bench_small_matrices",
           "bench_small_arguments", "bench_operations", "bench_gradbench", "bench_sparse", "bench_complex",
           "bench_scipy", "bench_directions", "bench_forward", "bench_second", "bench_taylor", "bench_passes",
           "bench_profile")


def questions():
    """What can be measured, by name, in the order of the table."""
    return {name: measure for module in MODULES for name, measure in importlib.import_module(module).QUESTIONS.items()}


def line(figure):
    """One figure as text."""
    reached = f"{figure.reached:.2f}{figure.unit}"
    return (f"{figure.name:<82} {reached:>10}  target {figure.bound:<9} {'reached' if figure.met else 'MISSED ':<7}"
            f"  ({figure.detail})  {figure.command}")


def markdown_row(figure, day):
    """One figure as a row of docs/design/figures.md."""
    return (f"| {figure.name} | {figure.reached:.2f}{figure.unit} | {figure.bound} | {'yes' if figure.met else 'no'} | "
            f"{figure.detail} | {day} | `{figure.command}` |")


def machine():
    """Processor and Python, for the head of the list."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            name = next(row.split(":", 1)[1].strip() for row in file if row.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name}, {platform.python_implementation()} {platform.python_version()}, {platform.system()}"


def main(arguments=None):
    """Measure and print; exit status 1 when a measurement itself fails, never for a time."""
    parser = argparse.ArgumentParser(description="Measure codipy's figures.")
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help="default: all; an unknown name lists them")
    parser.add_argument("--markdown", action="store_true",
                        help="print the table of docs/design/figures.md; with --peers, README's too")
    parser.add_argument("--peers", action="store_true", help="the same work under other packages")
    options = parser.parse_args(arguments)
    sys.path[:0] = [str(ROOT), str(ROOT.parent)]
    for library in ("OMP", "OPENBLAS", "MKL"):      # before NumPy is imported: all that is compared has one thread
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    if options.peers and not options.markdown:
        return importlib.import_module("peers").main(options.questions)
    known = questions()
    unknown = [name for name in options.questions if name not in known]
    if unknown:
        parser.error(f"unknown question {unknown[0]!r}: there are {', '.join(known)}")
    print(f"Measured on {machine()}.", end="\n\n" if options.markdown else "\n", flush=True)
    if options.markdown:
        print("| work | reached | target | reached it | in the same run | measured | command |\n"
              "|---|---|---|---|---|---|---|")
    failed, figures = False, {}
    for name in options.questions or known:
        try:
            figure = figures[name] = known[name]()
        except Exception as error:      # one failure must not hide the other figures
            failed = True
            print(f"| {name} | failed: {error!r} | | | | | |" if options.markdown else f"{name}: failed: {error!r}")
            continue
        day = datetime.date.today().isoformat()
        print(markdown_row(figure, day) if options.markdown else line(figure), flush=True)
    if options.peers:
        print(flush=True)
        importlib.import_module("peers_table").print_table(figures)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
