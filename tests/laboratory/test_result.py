# SPDX-License-Identifier: Apache-2.0
"""The forms of a study: tables, tidy CSV, JSON, LaTeX, pandas, figures, pages; each says what the rows say."""

import copy
import csv
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import codipy
from codipy.laboratory import Study, StudyError
from codipy.laboratory import page as page_module
from codipy.laboratory.figures import COLOURS, figures
from codipy.laboratory.result import COLUMNS
from codipy.laboratory.svg import svg
from codipy.tape.memory.statistics import readable
from tests.laboratory import models
from tests.laboratory.copies import in_copies


@pytest.fixture(scope="module")
def found():
    """One study over sizes; nothing here changes it."""
    with in_copies():
        return codipy.study(models.heat, sizes=[20, 200, 2000], strategies=["auto", "jacobian"],
                            granularities="statement", repeat=2)


def test_text_fits_a_narrow_terminal_and_holds_the_bytes(found, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for text, width in ((str(found), 80), (found.table(width=60), 60), (found.table(details=True, width=60), 60)):
        assert max(map(len, text.splitlines())) <= width
        assert all(readable(row.used) in text for row in found.taped) and "All gradients agree." in text
    assert "Bytes used by stream:" not in str(found) and "Bytes used by stream:" in found.table(details=True)


def test_markdown_and_latex_hold_the_same_cells(found):
    cells = [cell for table in found.tables() for row in table.rows for cell in row]
    assert len(cells) > 100
    markdown, latex = found.to_markdown(), found.to_latex()
    assert [cell for cell in cells if f" {cell} " not in markdown] == []
    escaped = [cell.replace("±", r"$\pm$").replace("^", r"\textasciicircum{}") for cell in cells]
    assert [cell for cell in escaped if cell not in latex] == []
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{table}"):
        assert latex.count(rule) == len(found.tables())
    outside = re.sub(r"\\begin\{table\}.*?\\end\{table\}", "", latex, flags=re.DOTALL)
    assert all(line.startswith("%") or not line for line in outside.splitlines())


def test_csv_is_tidy(found):
    text = found.to_csv()
    comments = [line for line in text.splitlines() if line.startswith("# ")]
    assert f"# codipy: {codipy.__version__}" in comments and any(line.startswith("# processor: ") for line in comments)
    rows = list(csv.DictReader(io.StringIO("\n".join(line for line in text.splitlines() if not line.startswith("#")))))
    assert tuple(rows[0]) == COLUMNS
    [used] = [row for row in rows if (row["point"], row["strategy"], row["quantity"], row["part"])
              == ("n=2000", "jacobian", "tape", "used")]
    assert (float(used["value"]), used["unit"]) == (found.rows[-1].used, "B")
    times = [row for row in rows if row["quantity"] == "time" and row["strategy"] == "auto" and row["size"] == "20"]
    assert {row["part"] for row in times} == {"plain", "record", "reverse", "forward"} and len(times) == 8
    keys = [tuple(row[name] for name in COLUMNS[:-2]) for row in rows]
    assert len(set(keys)) == len(keys)      # one row a measurement


def test_dataframe(found):
    pytest.importorskip("pandas")
    frame = found.to_dataframe()
    assert list(frame.columns) == list(COLUMNS) and len(frame) == len(list(found.records()))
    assert frame.attrs["codipy"] == codipy.__version__
    # Whole numbers, of which some are not there: an empty chunk size is codipy's own.
    assert {str(frame[name].dtype) for name in ("size", "steps", "numbers", "chunk_size", "width")} == {"Int64"}
    assert frame["chunk_size"].isna().any()


def test_what_is_not_installed_is_named(found, monkeypatch):
    for module, call in (("pandas", found.to_dataframe), ("matplotlib.figure", found.plot)):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(StudyError, match=rf"needs {module.partition('.')[0]}: pip install 'codipy\[study\]'"):
            call()


def test_json_and_folders_give_the_study_back(found, tmp_path):
    folder = found.save(tmp_path / "new" / "study")
    assert sorted(path.suffix for path in folder.glob("study.*")) == [".csv", ".html", ".json", ".md", ".tex"]
    for path in (folder, folder / "study.json"):
        assert Study.load(path).to_dict() == found.to_dict()


@pytest.mark.parametrize("text", ["", "[]", '{"codipy study": 99}', '{"codipy study": 2, "function": "f"}',
                                  '{"codipy study": 2, "function": "f", "header": {}, "disagreements": [], '
                                  '"rows": [{"combination": {"point": {"label": "x"}, "strategy": 1, "more": 2}}]}'])
def test_what_is_no_study_is_refused(text, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(StudyError, match="a.json"):
        Study.load(path)
    with pytest.raises(StudyError, match="cannot read"):
        Study.load(tmp_path / "none.json")


def test_figures_are_those_of_the_rows(found):
    made = {figure.name: figure for figure in figures(found)}
    assert {"streams", "pareto", "size", "time"} <= set(made)
    last = found.taped[-2:]
    for k, row in enumerate(last):
        height = sum(dict(one.points)[k] for one in made["streams"].series)
        assert height == row.used      # every byte of the tape is in a bar
    by_label = {one.label.partition(":")[0]: one.points for one in made["size"].series}
    assert by_label["auto statement"] == [(row.size, row.used) for row in found.taped[::2]]
    assert [one.points[0][1] for one in made["pareto"].series[1:]] == [row.used for row in last]


def test_no_two_parts_of_a_tape_have_one_colour():
    """As many as all strategies have together: the bars of a page, and those of matplotlib."""
    with in_copies():
        every = codipy.study(models.heat, sizes=[20], granularities="operation", repeat=1)
    [streams] = [figure for figure in figures(every) if figure.name == "streams"]
    drawn = ElementTree.fromstring(svg(streams))
    classes = {each.get("class") for each in drawn.iter() if each.tag.endswith("rect")}
    assert len(classes) == len({one.label for one in streams.series}) >= 8
    parts = {title for row in every.taped for title in row.streams} | {"adjoints", "identifiers"}
    assert len(parts) <= len(COLOURS) == len({light for light, _ in COLOURS}) == len({dark for _, dark in COLOURS})
    bars = every.plot("streams")["streams"].axes[0].containers
    assert len({bar.patches[0].get_facecolor() for bar in bars}) == len(streams.series)


def test_the_sweep_begins_on_the_curve_of_its_own_row(found):
    rows = [row for row in copy.deepcopy(found).rows if row.size == 2000]
    for row in rows:
        row.curve = [(0.0, row.baseline), (0.1, row.baseline + 2000), (0.2, row.baseline + 3000)]
        row.marks["reverse"] = 0.05
    *_, last = rows
    late = replace(last, combination=replace(last.combination, granularity="operation"), marks={"reverse": 0.3})
    forward = replace(last, combination=replace(last.combination, strategy="forward"))
    resident = figures(replace(found, rows=[*rows, late, forward]))[-1]
    assert resident.name == "resident" and resident.title.endswith("; dots: the reverse sweep begins")
    assert [one.spots for one in resident.series] == [[(0.05, 1000.0)], [(0.05, 1000.0)], [], []]
    assert svg(resident).count("<circle") == 2
    assert "dots" not in figures(replace(found, rows=[late]))[-1].title


def test_matplotlib_draws_them(found, tmp_path):
    pytest.importorskip("matplotlib")
    drawn = found.plot()
    assert list(drawn) == [figure.name for figure in figures(found)]
    assert len(drawn["size"].axes[0].lines) == 2 and drawn["size"].axes[0].get_xscale() == "log"
    drawn["streams"].savefig(tmp_path / "a.png")
    assert list(found.plot("size")) == ["size"]
    with pytest.raises(StudyError, match="no figure 'sizes': there are streams"):
        found.plot(["sizes"])


class Page(HTMLParser):
    """Reads a page: whether tags match, cells, addresses, figures."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.cells, self.svgs = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.open.append(tag)
        self.svgs += tag == "svg"
        self.addresses += [value for name, value in attributes if name in ("src", "href", "data", "action")]

    def handle_startendtag(self, tag, attributes):
        assert tag in ("line", "path", "circle", "rect", "polyline")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] == "td":
            self.cells.append(text)


def test_the_page_is_whole_and_asks_nobody(found):
    text = found.to_html()
    page = Page(text)
    assert page.open == [] and page.addresses == [] and "url(" not in text and "@import" not in text
    assert page.svgs == len(figures(found))
    assert page.cells == [cell for table in found.tables() for row in table.rows for cell in row]
    for drawn in re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL):
        ElementTree.fromstring(drawn)
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_names_cannot_break_a_page(found):
    evil = Study("<script>alert(1)</script>", {"processor": "<b>&"}, found.rows, ["a < b & c"])
    text = evil.to_html()
    assert "<script>alert" not in text and "<b>&" not in text and "a &lt; b &amp; c" in text


def browser():
    """What opens a page in a headless Chromium, by playwright or selenium; or None and the reason."""
    paths = [path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path]
    if not paths:
        return None, "no chromium is installed (Debian: apt install chromium)"
    if importlib.util.find_spec("playwright"):
        return lambda url, script: by_playwright(paths[0], url, script), None
    if importlib.util.find_spec("selenium"):
        return lambda url, script: by_selenium(paths[0], url, script), None
    return None, "neither playwright nor selenium is installed"


def by_playwright(path, url, script):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page, said = chromium.new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.goto(url)
        found = page.evaluate(f"() => {{ {script} }}")
        chromium.close()
    return found, said


def by_selenium(path, url, script):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = path
    for word in ("--headless=new", "--no-sandbox"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options)
    try:
        driver.get(url)
        return driver.execute_script(script), [line["message"] for line in driver.get_log("browser")]
    finally:
        driver.quit()


def test_a_browser_shows_the_page_and_sorts(found, tmp_path):
    opened, reason = browser()
    if opened is None:
        pytest.skip(reason)
    found.save(tmp_path)
    [number] = [k for k, table in enumerate(found.tables()) if table.title == "Memory of the tape:"]
    script = f"""
        const table = document.querySelector("#table-{number} table"), head = table.tHead.rows[0];
        const column = [...head.cells].findIndex(cell => cell.textContent === "used");
        head.cells[column].querySelector("button").click();
        const up = [...table.tBodies[0].rows].map(row => row.cells[column].textContent);
        head.cells[column].querySelector("button").click();
        const down = [...table.tBodies[0].rows].map(row => row.cells[column].textContent);
        return [up, down, document.querySelector("svg").getBoundingClientRect().height > 100];
    """
    (up, down, drawn), said = opened((tmp_path / "study.html").as_uri(), script)
    expected = [readable(row.used) for row in sorted(found.taped, key=lambda row: row.used)]
    assert (up, down, drawn, said) == (expected, expected[::-1], True, [])


def test_the_script_of_the_page_sorts_by_value():
    """By node, which runs the very functions; the page itself is opened above."""
    node, page = shutil.which("node"), page_module
    if node is None:
        pytest.skip("no node is installed")
    script = page._SCRIPT.split("for (const button")[0]
    cells = [["2.00 KB", "1.50 MB", "900.00 B", "-", "3.00 GB"], ["0.40 ± 0.01", "12.3 ± 4", "1.10 ± 0.20"],
             ["b", "a"], ["1.5e-09", "2.0e-10"], ["3.2 ms", "1.1 s", "900 us"]]
    code = script + f"console.log(JSON.stringify({json.dumps(cells)}.map(part => part.sort(compare))))"
    done = subprocess.run([node, "-e", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        ["900.00 B", "2.00 KB", "1.50 MB", "3.00 GB", "-"], ["0.40 ± 0.01", "1.10 ± 0.20", "12.3 ± 4"],
        ["a", "b"], ["2.0e-10", "1.5e-09"], ["900 us", "3.2 ms", "1.1 s"]]
