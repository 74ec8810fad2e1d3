# SPDX-License-Identifier: Apache-2.0
"""The documents run: every Python block of a page is executed in turn, and prints what the text block below it says."""

import contextlib
import importlib.util
import io
import linecache
import re
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = [ROOT / "docs" / "bridges.md"]      # tests/bridges runs it, as far as its packages are installed
PYTHON_PAGES = [page for page in PAGES if page not in ELSEWHERE and "```python\n" in page.read_text(encoding="utf-8")]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(page):
    return page.relative_to(ROOT).as_posix()


def run_page(text):
    """Yield (expected, printed) for each Python block; expected is None where no text block follows."""
    namespace = {"__name__": "page"}
    found = [(match.group(1), match.group(2)) for match in BLOCK.finditer(text)]
    for number, (language, body) in enumerate(found):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                file = f"<block {number}>"
                linecache.cache[file] = len(body), None, body.splitlines(True), file  # as a notebook does
                exec(compile(body, file, "exec"), namespace)
            following = found[number + 1] if number + 1 < len(found) else ("", "")
            yield following[1] if following[0] == "text" else None, printed.getvalue()


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=name)
def test_page_runs_and_prints_what_it_says(page):
    for expected, printed in run_page(page.read_text(encoding="utf-8")):
        assert printed == (expected or "")


def test_a_wrong_output_is_caught():
    page = "```python\nx = 2\nprint(x)\n```\n```text\n3\n```\n"
    assert list(run_page(page)) == [("3\n", "2\n")]
    with pytest.raises(ZeroDivisionError):
        list(run_page("```python\n1 / 0\n```\n"))


def test_there_are_tutorials_to_run():
    assert len(PYTHON_PAGES) >= 4
    assert ROOT / "README.md" in PYTHON_PAGES


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link and not link.startswith("#")]
    assert [link for link in links if not (page.parent / unquote(link.split("#")[0])).exists()] == []


def test_the_readme_shows_a_whole_example():
    first = next(body for language, body in BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
                 if language == "python")
    assert 10 <= len(first.splitlines()) <= 20


@contextlib.contextmanager
def of_benchmarks(name):
    """A module of the benchmarks. The names of those that it imports are short: no other test may find them."""
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    before, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path[:] = path
        for added in set(sys.modules) - before:
            del sys.modules[added]


def figures():
    return (ROOT / "docs" / "design" / "figures.md").read_text(encoding="utf-8")


def test_every_figure_stands_in_the_table():
    with of_benchmarks("run") as run:
        questions = set(run.questions())
    assert set(re.findall(r"`python benchmarks/run\.py ([\w-]+)` \|", figures())) == questions


def test_the_figures_of_readme_are_those_of_the_page_of_figures():
    """`python benchmarks/run.py --markdown --peers` prints both tables, of one process."""
    reached = {question: float(times) for times, question in re.findall(
        r"^\|[^|]*\| ([\d.]+) \|.*`python benchmarks/run\.py ([\w-]+)` \|$", figures(), re.MULTILINE)}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]*) \| ([^|]*) \|", readme, re.MULTILINE))
    with of_benchmarks("peers_table") as table:
        assert {text: rows[text] for text in table.PROGRAMS.values()} == {
            text: table.number(reached[question]) for question, text in table.PROGRAMS.items()}
