"""Marginal effects as a table, their differences between places, and joint tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ....checks import one_of
from ....exceptions import OptionError
from ...report.noted import NotedFrame, noted_html, noted_text
from ..joint_tests import Joint, joint_frame
from .average import Average, together
from .means import Emmeans, groups_of

#: Rows that are printed.
_SHOWN = 100
#: What a joint test says, by its name.
_HYPOTHESES = {
    "zero": "all effects of a term are 0",
    "equal": "the effects of a term are the same at all places",
}


@dataclass(frozen=True, eq=False, repr=False)
class MarginalEffects(Emmeans):
    """Marginal effects, and what their differences and joint tests need.

    The attributes are those of `Emmeans`; `cells` has a row for every term, contrast and place, and `by` is (term,
    contrast): effects are compared between places.
    """

    def __repr__(self) -> str:
        return noted_text(self.frame.head(_SHOWN), self._all_notes)

    def _repr_html_(self) -> str:
        return noted_html(self.frame.head(_SHOWN), self._all_notes)

    @property
    def told(self) -> list[str]:
        """What stands below all the rows."""
        r = self.averager.results
        notes = [f"Effects on {super()._quantity}; {100 * self.level:g} % limits, {self._distribution}.", *self.notes]
        return [*notes, f"Standard errors: delta method, {r.own_covariance.words}."]

    @property
    def _one(self) -> str:
        return "effect"

    @property
    def _quantity(self) -> str:
        return f"effects on {super()._quantity}"

    @property
    def _all_notes(self) -> list[str]:
        rows = len(self.frame)
        more = [f"The first {_SHOWN} of {rows:,} rows; .frame has all."] if rows > _SHOWN else []
        return [*self.told, *more]

    @property
    def frame(self) -> pd.DataFrame:
        """term, contrast, columns that tell the places, level or threshold where the scale has them, estimate,
        std_error, statistic, p_value, lower, upper; under CR2 also df, Satterthwaite's."""
        return self._labelled(self.cells, self.averager.table(together(self.averages), self.level))

    def _named(self, compared: list[str], key: Mapping[str, Any]) -> dict[str, Any]:
        return {**key, "difference": compared}

    @property
    def _places(self) -> list[str]:
        return [name for name in self.cells.columns if name not in self.by]

    def contrasts(self, method: Any = None, adjust: str | None = None, **options: Any) -> NotedFrame:
        """Differences of the effects between places ("differences of differences"), within each term and contrast.

        Parameters
        ----------
        method, adjust
            As in `Emmeans.contrasts`: "pairwise" if not given, with Tukey's adjustment for three places or more.
        **options
            `interaction`, `ref` and `reverse`, as there.

        Returns
        -------
        NotedFrame
            Columns term, contrast, difference, level or threshold, estimate, std_error, statistic, p_value, lower,
            upper.

        Raises
        ------
        OptionError
            The effects are of one place, or of single rows.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp * contact", datasets.load("wine"))
        >>> effects = fit.marginal_effects("temp", by="contact", scale="mean_class")
        >>> effects.contrasts().round(3)[["difference", "estimate", "p_value"]].values.tolist()
        [['yes - no', 0.271, 0.489]]
        """
        self._check_places("contrasts")
        return super().contrasts(method, adjust, **options)

    def _check_places(self, what: str) -> None:
        if not self._places or "row" in self._places:
            raise OptionError(f"{what} compare effects between places: ask for them with by= or at={{...}}.")

    def joint_test(self, hypothesis: str = "zero") -> NotedFrame:
        """Wald tests of all effects of each term on a level of the response (or on the expected rank) at once.

        Parameters
        ----------
        hypothesis : {"zero", "equal"}
            "zero": they are 0, in all contrasts and at all places. "equal": they are the same at
            all places of `by` and `at`.

        Returns
        -------
        NotedFrame
            Columns term, level or threshold, df, chisq, p_value; under a survey design or a CR2 covariance df,
            df_resid, F, p_value. There is no test of all levels together: where an effect is 0, those on the levels
            depend on each other, and Wald's statistic has no chi-squared distribution. `test` is for parameters.
            Effects at many values of a number have few degrees of freedom for the same reason: combinations that
            hardly vary (a tenth of the largest deviation) are left out.

        Raises
        ------
        OptionError
            Another hypothesis, or "equal" with one place.

        Examples
        --------
        >>> from ordstat import datasets, ordfit
        >>> fit = ordfit("rating ~ temp * contact", datasets.load("wine"))
        >>> fit.marginal_effects(scale="mean_class").joint_test().round(2)[["term", "df", "chisq"]].values.tolist()
        [['temp', 1, 32.73], ['contact', 1, 12.29]]
        """
        one_of("hypothesis", hypothesis, _HYPOTHESES)
        if hypothesis == "equal":
            self._check_places("joint_test('equal')")
        front = [{"term": term, **labels} for term in dict.fromkeys(self.cells["term"]) for labels in self._outputs]
        tests = [self._tested(one["term"], place % len(self._outputs), hypothesis) for place, one in enumerate(front)]
        tested = joint_frame([one["term"] for one in front], tests).reset_index(drop=True)
        table = pd.concat([pd.DataFrame(front), tested], axis="columns")
        return NotedFrame.of(table, [f"Wald tests: {_HYPOTHESES[hypothesis]}; {self._quantity}."])

    @property
    def _outputs(self) -> list[dict[str, Any]]:
        """The labels of each output."""
        labels = self.averager.labels
        return [dict(zip(labels, row, strict=True)) for row in zip(*labels.values(), strict=True)] or [{}]

    def _tested(self, term: str, output: int, hypothesis: str) -> Joint:
        """The test of one output of one term."""
        asked: list[Average] = []
        for key, members in groups_of(self.cells, self.by):
            if key["term"] == term:
                found = [self.averages[k].output(output) for k in members]
                asked += found if hypothesis == "zero" else [one - found[0] for one in found[1:]]
        return self.averager.joint(together(asked))
