"""What is shown of awkward data: pictures, tables, pages, the command line and pooled
fits.

Each number that is drawn, printed or written is finite and that of an answer which
`test_determined.py` compares with an independent fit, or a word, note or warning says
why there is none.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.collections import Collection, PathCollection

from contract.test_determined import (
    CASES,
    GENERAL,
    NAMED,
    OF_NUMBER,
    REASON,
    WHOLE,
    WITHOUT_ERROR,
    Answer,
    Case,
    ask,
    close,
    frame,
    quiet,
    rows_to_predict,
    shown,
    walk,
)
from ordstat import DataError, pool, table
from ordstat.cli import main
from ordstat.exceptions import DataWarning, OrdstatError

#: Cases whose pictures, tables and files are looked at.
WALKED = ("reference level at the top", "complete", "empty cell", "spread")
MORE = (
    "aliased",
    "survey",
    "nominal",
    "mixed",
    "weights of 0",
    "level without rows",
    "constant offset",
    "reference level, cratio",
    "answers known in part",
)
#: Words in place of a number, or of what is left out.
WORDS = re.compile(
    f"{REASON.pattern}|not estim|no finite|left out|do not fall|∞|no limit",
    re.IGNORECASE,
)
#: The largest number on an axis of these data, which have 240 rows and values below 80.
LARGEST = 300.0


@dataclass(frozen=True)
class Fitted:
    """A case with its fit, which is made once."""

    name: str

    @cached_property
    def case(self) -> Case:
        return CASES[self.name]()

    @cached_property
    def fit(self) -> Any:
        return self.case.fit()


@pytest.fixture(
    scope="module",
    params=[*WALKED, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)],
)
def fitted(request: pytest.FixtureRequest) -> Fitted:
    return Fitted(request.param)


# Pictures

#: Pictures of variables and what they are asked for; profiles of one parameter.
ARGUMENTS: dict[str, Callable[[Case], tuple[Any, ...]]] = {
    "effects": lambda case: (case.number or case.factor,),
    "emmeans": lambda case: (case.factor,),
    "stacked": lambda case: (case.factor,),
    "profiles": lambda case: ([*case.own, "x"][:1],),
}
#: Those whose numbers do not come from the fit alone, and those of two variables, whose
#: subgroups some cases do not have.
LEFT = ("importance", "subgroups")


def said_in(figure: Any) -> str:
    """Every text of a figure."""
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    for ax in figure.axes:
        texts += [ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")]
    return " ".join(texts)


def numbers_of(ax: Any) -> Iterator[Any]:
    """Arrays of the coordinates of everything drawn from data."""
    for line in ax.lines:
        yield line.get_xydata()
    for collection in ax.collections:
        if isinstance(collection, PathCollection):
            yield np.ma.filled(collection.get_offsets(), np.nan)
        elif isinstance(collection, Collection):
            yield from (path.vertices for path in collection.get_paths())
    for patch in ax.patches:
        yield patch.get_path().vertices


def test_pictures_say_what_they_leave_out(fitted: Fitted) -> None:
    wrong = []
    for name in fitted.fit.plot.names:
        if name in LEFT:
            continue
        given = ARGUMENTS.get(name, lambda case: ())(fitted.case)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                axes = getattr(fitted.fit.plot, name)(*given)
            except OrdstatError as error:
                if not WORDS.search(str(error)):
                    wrong.append(f"{name}: {error}")
                continue
        axes = np.ravel(np.asarray(axes, dtype=object))
        said = said_in(axes[0].figure.figure)
        said += " ".join(str(one.message) for one in caught)
        for ax in axes:
            ends = np.abs([*ax.get_xlim(), *ax.get_ylim()])
            if not (ends <= LARGEST).all():
                wrong.append(f"{name}: an axis to {ends.max():.3g}")
            drawn = [np.asarray(part, dtype=float) for part in numbers_of(ax)]
            gaps = any(not np.isfinite(part).all() for part in drawn if part.size)
            if gaps and not WORDS.search(said):
                wrong.append(f"{name}: numbers are missing without a word: {said!r}")
        pyplot.close("all")
    assert not wrong, "\n".join(wrong)


#: Frames of pictures that another fit checks.
FRAMES: dict[str, Callable[[Any, Case, pd.DataFrame], Any]] = {
    "plot emmeans": lambda f, c, new: f.plot.emmeans(c.factor, at=c.at, draw=False),
    "plot exceedance": lambda f, c, new: f.plot.emmeans(
        c.factor, at=c.at, scale={"exceed": 2}, draw=False
    ),
}


# Tables


def texts_of(made: Any) -> dict[str, list[str]]:
    """The cells of each row, by its label."""
    cells = made.df.droplevel(0)
    return {str(label): list(map(str, row)) for label, row in cells.T.items()}


@pytest.mark.parametrize("exponentiate", [False, True])
@pytest.mark.parametrize("style", ["paper", "clinical"])
def test_cells_of_tables_are_estimates_or_words(
    fitted: Fitted, style: str, exponentiate: bool
) -> None:
    fit = fitted.fit
    options = {"exponentiate": exponentiate, "thresholds": True, "digits": 5}
    made = table(fit, style=style, **options)
    cells = texts_of(made)
    effects = ("location", "nominal", "scale")
    for row in fit.tidy().itertuples():
        (record,) = [one for one in fit.all_parameters if one.name == row.term]
        label = record.shown({}, exponentiate, "")
        text = cells[label][0].split("\n")[0]
        number = row.estimate
        if exponentiate and row.coef_type in effects:
            sign = -1.0 if row.coef_type == "nominal" else 1.0
            with np.errstate(over="ignore"):
                number = np.exp(sign * number)
        if np.isfinite(row.estimate) and row.term not in fit.stopped:
            assert float(text) == pytest.approx(number, abs=6e-6), label
        else:
            assert text in ("not estimable", "not estimated"), label
            assert re.search(
                rf"(?i){text}, as [^.]*: [^.]*{re.escape(label)}", made.notes
            )
            assert not any(cells[label][1:])
    every = [text for row in cells.values() for text in row]
    assert not any(re.search(r"\bnan\b|\binf\b|None", text) for text in every)


def test_tables_are_written_as_they_print(fitted: Fitted, tmp_path: Path) -> None:
    """In LaTeX, HTML and Word, a fit beside itself as alone."""
    from docx import Document

    from ordstat.report.cells import in_tex

    fit = fitted.fit
    made = table({"one": fit, "two": fit})
    alone = texts_of(table(fit))
    assert texts_of(made) == {label: row * 2 for label, row in alone.items()}
    made.save(str(tmp_path / "t.docx"))
    (written,) = Document(str(tmp_path / "t.docx")).tables
    in_word = [cell.text for row in written.rows for cell in row.cells]
    latex = made.make("tex")
    html = unescape(made.make("html"))
    for label, row in texts_of(made).items():
        assert label in in_word and label in html
        assert in_tex(label) in latex
        for text in row:
            assert text in in_word
            assert all(in_tex(line) in latex for line in text.split("\n"))
            assert all(line in html for line in text.split("\n"))
    assert made.notes in in_word


# Pages


@pytest.mark.parametrize("name", ["reference level at the top", "spread"])
def test_pages_show_the_summary_and_name_missing_pictures(
    name: str, tmp_path: Path
) -> None:
    fit = Fitted(name).fit
    # pictures are looked at above: those of one fit are enough
    ask(lambda: fit.report(tmp_path / "page.html", pictures=name == "spread"))
    page = (tmp_path / "page.html").read_text()
    texts = re.sub(r"<style>.*?</style>|<img[^>]*>|<[^>]+>", " ", page)
    assert not re.search(r"\bnan\b|\bNaN\b|\bNone\b", texts)
    estimates = str(fit.summary()).partition("Reference levels")[0]
    for number in re.findall(r"-?\d+\.\d+", estimates):
        assert number in texts.replace("\N{MINUS SIGN}", "-"), number
    assert REASON.search(texts)
    if name == "spread":
        missing = re.findall(r"No picture '(\w+)': ([^<]*)", page)
        pictures = page.count("<figure>")
        assert pictures >= 3 and all(WORDS.search(reason) for _, reason in missing)


# Command line


@pytest.mark.parametrize("name", ["reference level at the top", "empty cell"])
def test_the_command_line_predicts_what_the_fit_does(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Fitted(name)
    data = one.fit.design.data
    data.to_csv(tmp_path / "data.csv", index=False)
    one.case.new.to_csv(tmp_path / "new.csv", index=False)
    saved = str(tmp_path / "fit.ordstat")
    rows = str(tmp_path / "data.csv")
    assert main(["fit", rows, one.fit.formula, "--save", saved]) == 0
    first = capsys.readouterr()
    assert REASON.search(first.err) or REASON.search(first.out)
    assert main(["summary", saved]) == 0
    assert capsys.readouterr().out == first.out
    new = str(tmp_path / "new.csv")
    asked: dict[str, Any] = {"prob": None, "mean": None, "exceed": [1, 2.5]}
    for type, at in asked.items():
        given = [] if at is None else ["--at", ",".join(map(str, at))]
        assert main(["predict", saved, new, "--type", type, *given, "-o", rows]) == 0
        said = capsys.readouterr().err
        found = pd.read_csv(rows).to_numpy()
        answer = ask(lambda t=type, at=at: one.fit.predict(one.case.new, type=t, at=at))
        expected = np.reshape(list(answer.numbers.values()), found.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
        assert not np.isnan(found).any() or REASON.search(said)


# Pooled fits


def imputed(data: pd.DataFrame) -> list[pd.DataFrame]:
    """Three frames whose x differs."""
    rng = np.random.default_rng(0)
    return [
        data.assign(x=data["x"] + 0.1 * rng.normal(size=len(data))) for _ in range(3)
    ]


@pytest.fixture(scope="module")
def pooled() -> tuple[Any, Any, Case]:
    """Fits with a column that is 0 in every row, and without it."""
    frames = imputed(frame(9).assign(flag=0.0))
    full = pool([quiet("y ~ flag + g + h + x", one) for one in frames])
    part = pool([quiet("y ~ g + h + x", one) for one in frames])
    new = rows_to_predict(frames[0])
    case = Case(
        fit=lambda: full,
        new=pd.concat([new, new.assign(flag=1.0)], ignore_index=True),
        new_part=new,
        at={"x": 0.3, "h": ["u"], "flag": 0.0},
    )
    return full, part, case


def undetermined(answer: Answer) -> list[Any]:
    return [key for key, value in answer.numbers.items() if not np.isfinite(value)]


#: Questions whose answers are series of parameters.
SERIES = ("params", "coef", "se")


def test_pooled_fits_answer_as_without_the_column(
    pooled: tuple[Any, Any, Case],
) -> None:
    full, part, case = pooled
    without = replace(case, at={"x": 0.3, "h": ["u"]})
    wrong = []
    asked = 0
    for name, question in {**GENERAL, **OF_NUMBER, **WHOLE, **NAMED}.items():
        answer = ask(lambda q=question: q(full, case, case.new))
        expected = ask(lambda q=question: q(part, without, case.new_part))
        asked += not answer.refused
        if answer.refused != expected.refused:
            wrong.append(f"{name}: {answer.said or expected.said}")
        for key, number in expected.numbers.items():
            found = answer.numbers.get(key, np.nan)
            if np.isfinite(number) and not close(found, number):
                wrong.append(f"{name}: {key}: {found}, and {number} without the column")
        missing = [key for key in undetermined(answer) if key[-2:] != WITHOUT_ERROR]
        # series of parameters have no notes: tidy() has
        if missing and name not in SERIES and not REASON.search(answer.said):
            wrong.append(f"{name}: {missing[:2]} missing without a reason")
    assert not wrong, "\n".join(wrong)
    assert asked > 30


def test_pooled_fits_are_shown_with_their_reasons(
    pooled: tuple[Any, Any, Case], tmp_path: Path
) -> None:
    full, part, _ = pooled
    made = table(full)
    cells = texts_of(made)
    assert cells.pop("flag") == ["not estimated"]
    assert cells == texts_of(table(part))
    assert "do not determine them: flag." in made.notes
    ax = full.plot.forest()
    drawn = said_in(ax.figure.figure)
    pyplot.close("all")
    assert "not estimated" in drawn and f"{part.coef['x']:.2f} [" in drawn
    full.report(tmp_path / "page.html", pictures=False)
    page = (tmp_path / "page.html").read_text()
    assert f"{part.coef['x']:.3f}" in page and not re.search(r"\bnan\b", page)
    assert re.search("do not determine them: flag|aliased", page)


# Single messages


def test_profiles_that_do_not_fall_have_no_limits_and_no_curve() -> None:
    fit = Fitted("spread").fit
    (name,) = [name for name in fit.coef.index if name == "g[T.B]"]
    limits = fit.confint([name], type="profile")
    assert limits.isna().all(axis=None)
    assert f"{name}, lower: the profile likelihood levels off" in str(limits.attrs)
    with pytest.raises(DataError, match=r"no parameter in parm .*: g\[T.B\]"):
        fit.plot.profiles([name])
    with pytest.warns(DataWarning, match=r"left out: g\[T.B\]"):
        drawn = fit.plot.profiles([name, "g[T.C]"], draw=False)
    assert set(drawn["parameter"]) == {"g[T.C]"}
    # the spread itself has a lower limit, where twice the log-likelihood has fallen by
    # the quantile
    (panel,) = np.ravel(np.asarray(fit.plot.profiles(["scale.g[T.B]"]), dtype=object))
    assert panel.get_xlabel().endswith("no upper limit")
    pyplot.close("all")


def test_margins_of_infinite_estimates_are_refused() -> None:
    fit = Fitted("reference level at the top").fit
    assert "margins" not in fit.plot.names and "latent" in fit.plot.names
    said = ask(fit.margins)
    assert said.unavailable and "infinite estimates" in said.said
    assert "infinite estimates" in str(fit.bounds())
    ridge = fit.update(penalty=1.0)
    assert np.isfinite(ridge.margins()[["left", "right"]].min()).all()


def test_latent_scores_are_those_of_the_rows_that_are_left() -> None:
    """Of the rows without the separated level, counted from the first threshold."""
    one = Fitted("reference level at the top")
    (rest,) = (make() for make in one.case.part)
    with pytest.warns(DataWarning, match="54 rows with an infinite score"):
        found = one.fit.plot.latent(bins=7, draw=False)
    expected = rest.plot.latent(bins=7, draw=False)
    first = rest.thresholds.iloc[0]
    np.testing.assert_allclose(found["left"], expected["left"] - first, atol=1e-4)
    np.testing.assert_array_equal(found["weight"], expected["weight"])


def test_predictions_without_a_value_speak_of_infinite_estimates() -> None:
    """A row whose column is separated both ways: any probability has the same
    likelihood.
    """
    one = Fitted("complete")
    said = ask(lambda: one.fit.predict(one.case.new.assign(x=-0.7), type="prob"))
    assert undetermined(said) and "estimates are infinite" in said.said


@pytest.mark.parametrize("name", ["reference level at the top", "spread", "empty cell"])
def test_frames_of_pictures_are_those_of_other_fits(name: str) -> None:
    questions = FRAMES
    with pytest.MonkeyPatch.context() as patch:
        for question, asked in questions.items():
            patch.setitem(GENERAL, question, asked)
        failures = walk(CASES[name](), list(questions))
    assert not failures, shown(failures)
