# SPDX-License-Identifier: Apache-2.0
"""Makes the studies that docs/studies.md explains: a fit, Burgers' equation in loops and in arrays, swaptions.

`make study` runs it. Each study goes to build/studies/NAME (study.html, study.csv, study.json and more), a small table
of it to docs/studies/NAME.csv, and the page shows some lines of that, with the load of the machine meanwhile. What its
sentences say of times is printed where it is not what they say. Words name the studies to make; `--quick` takes few
sizes and leaves docs/ alone; `--page` makes no study, and writes the page of the tables that are there.
"""
import argparse
import csv
import math
import os
import re
import shutil
from pathlib import Path

import codipy
from codipy.laboratory.plan import Point
from codipy.laboratory.source import as_steps
from codipy.tape.memory.statistics import readable
from codipy.tools.comparison.measuring import PHASES
from codipy.tools.console.progress import shown_progress
from codipy.tools.console.target import find

ROOT = Path(__file__).resolve().parents[1]
BUILD, TABLES = ROOT / "build" / "studies", ROOT / "docs" / "studies"
STUDIES = {      # file and function; what is studied, and what of it in a hurry; sizes too large, which are predicted
    "lynx-hare": ("lynx_hare.py:misfit", {}, {}, None),
    "burgers-loops": ("burgers.py:loops", {"sizes": [26, 51, 101], "steps": [8, 16, 32], "repeat": 3},
                      {"sizes": [11], "steps": [2]}, (201, 32)),
    "burgers-arrays": ("burgers.py:arrays", {"sizes": [51, 101, 201, 401], "steps": [8, 16, 32, 64], "repeat": 3},
                       {"sizes": [21], "steps": [2]}, (801, 64)),
    "swaptions": ("libor.py:portfolio", {"steps": [10, 20, 40]}, {"steps": [2]}, None),
}
PAGE = ROOT / "docs" / "studies.md"
SHOWN = {      # the points of each study that the page shows
    "lynx-hare": ["x0"],
    "swaptions": ["steps=40"],
    "burgers-loops": ["n=101 steps=32", "n=201 steps=32"],
    "burgers-arrays": ["n=201 steps=32", "n=401 steps=64", "n=801 steps=64"],
}
COLUMNS = ("point", "strategy", "granularity", "predicted", "statements", "arguments", "bytes_a_statement", "used",
           "allocated", "adjoints", "peak_live", "over_plain", *(f"{phase}_over_plain" for phase in PHASES))


def make(name, quick=False, build=BUILD, tables=TABLES):
    """Make one study, and return it with the lines of its small table."""
    place, whole, few, larger = STUDIES[name]
    target, folder = str(ROOT / "examples" / place), build / name
    shutil.rmtree(folder, ignore_errors=True)
    loads = []
    with shown_progress(name) as progress:

        def look(*step):
            if hasattr(os, "getloadavg"):      # not on Windows
                loads.append(os.getloadavg()[0])
            if progress is not None:
                progress(*step)

        chosen = {**few, "repeat": 1} if quick else whole
        study = codipy.study(target, **chosen, save=folder, progress=look)
    rows = [line_of(study, row) for row in study.taped]
    if larger is not None and not quick:
        rows += predicted(target, *larger)
    tables.mkdir(parents=True, exist_ok=True)
    with open(tables / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        for key in ("function", "codipy", "python", "numpy", "processor", "date", "repeat", "clock"):
            file.write(f"# {key}: {study.header[key]}\n")
        if loads:
            file.write(f"# load: {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} processors\n")
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return study


def line_of(study, row):
    """What the small table says of a combination."""
    asked = row.combination
    times = {f"{phase}_over_plain": f"{row.times(phase).median:.3g}" for phase in PHASES if row.times(phase)}
    return {"point": asked.point.label, "strategy": asked.strategy, "granularity": asked.granularity, "predicted": "",
            "statements": row.statements, "arguments": row.arguments, "used": row.used, "allocated": row.allocated,
            "bytes_a_statement": f"{row.swept_bytes / row.statements:.2f}" if row.statements else "",
            "adjoints": row.adjoint_bytes, "peak_live": row.peak_live, "over_plain": study.over_plain(row), **times}


def predicted(target, size, steps):
    """Lines of a size that is counted and not recorded."""
    found = find(target)
    with shown_progress(f"{found.name} n={size}") as progress:
        counted = codipy.predict(as_steps(found.function, Point("", size, steps)), *found.made(size, steps),
                                 granularities="statement", progress=progress)
    return [{"point": f"n={size} steps={steps}", "strategy": row.strategy, "granularity": row.granularity,
             "predicted": "yes", "statements": row.statements, "used": row.used, "allocated": row.allocated,
             "adjoints": row.adjoint_bytes} for row in counted.rows]


def table_of(name, tables=TABLES):
    """The lines about a study, and the rows of its small table."""
    with open(tables / f"{name}.csv", newline="", encoding="utf-8") as file:
        lines = list(file)
    return [line for line in lines if line.startswith("#")], list(csv.DictReader(
        line for line in lines if not line.startswith("#")))


def shown(name, tables=TABLES):
    """The lines of the table that the page has of a study, in Markdown."""
    about, rows = table_of(name, tables)
    yield f"| {name} | statements | bytes a statement | tape, used | peak live | record | reverse | replay |"
    yield "|---|---|---|---|---|---|---|---|"
    for point in SHOWN[name]:
        for row in rows:
            if row["point"] != point or (row["granularity"] == "operation") != (row["strategy"] == "simple"):
                continue
            title = f"{row['strategy']}, {point}" + (", predicted" if row["predicted"] else "")
            cells = [title, row["statements"], row["bytes_a_statement"], readable(int(row["used"])), row["peak_live"],
                     row["record_over_plain"], row["reverse_over_plain"], row["replay_over_plain"]]
            yield "| " + " | ".join(cell or "-" for cell in cells) + " |"
    for line in about:
        if (load := re.match(r"# load: (\S+) to (\S+) on (\d+) processors", line)) is not None:
            least, most, processors = load.groups()
            rough = ", so that its times are rough, those of large points most of all" * (float(most) > int(processors))
            yield ""
            yield f"The machine's load was {least} to {most} on {processors} processors{rough}."


def said_of_times(tables=TABLES):
    """What sentences of the page say of times, as it is in the tables."""
    replays, over = [], []
    for name in STUDIES:
        rows = [row for row in table_of(name, tables)[1] if row["granularity"] == "statement" and not row["predicted"]]
        if name != "burgers-arrays":
            replays += [float(row["replay_over_plain"]) for row in rows if row["strategy"].startswith("primal")]
        for point in SHOWN[name]:
            times = {row["strategy"]: float(row["record_over_plain"]) + float(row["reverse_over_plain"])
                     for row in rows if row["point"] == point and row["reverse_over_plain"]}
            if times:
                over.append(times["auto"] / min(times.values()) - 1.0)
    return [f"{min(replays):.2g} to {max(replays):.2g} of a plain run in scalar loops",
            f"within {math.ceil(100 * max(over))} % of the least time at each point above"]


def with_tables(text, tables=TABLES):
    """The text of the page with the tables that it has between marks."""
    for name in STUDIES:
        head, mark, rest = text.partition(f"<!-- table of {name} -->\n")
        end = rest.index("<!-- end of table -->")
        text = "".join([head, mark, *(line + "\n" for line in shown(name, tables)), rest[end:]])
    return text


def main():
    """Make those that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(STUDIES))
    parser.add_argument("--quick", action="store_true", help="few sizes, one measurement; the tables go to build/ too")
    parser.add_argument("--page", action="store_true", help="make none, and write the page of the tables there are")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(STUDIES))
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}: there are {', '.join(STUDIES)}")
    for name in [] if options.page else options.names or STUDIES:
        study = make(name, options.quick, tables=BUILD if options.quick else TABLES)
        print(study.table(), end="\n\n")
    if not options.quick:
        text = with_tables(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(text, encoding="utf-8")
        for phrase in said_of_times():
            if phrase not in text:
                print(f"{PAGE.relative_to(ROOT)} says something else now than: {phrase}")


if __name__ == "__main__":
    main()
