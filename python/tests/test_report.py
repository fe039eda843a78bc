"""Studies to be looked at: in notebooks, and in files for others."""

from __future__ import annotations

import os

import noregret as nr
import pytest


def studied(**more):
    study = nr.Study({"x": nr.Float(0, 1), "act": nr.Categorical(["relu", "<b>"])}, seed=3, algorithm="random", **more)
    for trial in study.ask(8):
        study.tell(trial, trial.params["x"])
    failed = study.ask(1)[0]
    study.fail(failed, "out of memory")
    return study


def test_a_notebook_shows_a_study_without_scripts():
    html = studied()._repr_html_()
    assert html.startswith("<div>") and html.endswith("</div>")
    assert "8 trials with a value, 1 failed" in html and "<svg" in html
    assert "<script" not in html and "<b>" not in html
    assert "<svg" not in nr.Study({"x": nr.Float(0, 1)})._repr_html_()


def test_a_report_in_markdown(tmp_path):
    study = studied()
    study.report(tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "8 trials with a value, 1 failed" in text
    assert "| 1 | out of memory | 8 |" in text
    assert os.listdir(tmp_path) == ["report.md"]
    study.report(str(tmp_path / "text"), format="md")
    assert (tmp_path / "text").exists()


def test_a_report_of_a_page(tmp_path):
    """One file with the data inside, if the page was built with the package; else it is said how to build it."""
    try:
        studied().report(tmp_path / "report.html")
    except nr.NoRegretError as error:
        assert "npm run build" in str(error)
    else:
        assert "noregret-data" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_report_is_never_written_onto_a_study(tmp_path):
    path = tmp_path / "s.db"
    study = studied(storage=f"sqlite:///{path}", name="s")
    with pytest.raises(nr.InvalidArgument, match="name another file"):
        study.report(path, format="md")
    with pytest.raises(nr.InvalidArgument, match="format"):
        study.report(tmp_path / "x.pdf", format="pdf")
    assert len(nr.Study.load("s", f"sqlite:///{path}")) == 9
