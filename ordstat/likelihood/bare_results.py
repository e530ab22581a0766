"""Results of estimates without standard errors: the summary, and joined levels of
ordered predictors.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..checks import label_texts
from ..exceptions import OptionError
from ..formula.level_effects import stepped_terms
from ..formula.names import shown_factor
from ..report.render import Report, Summary, Table
from ..report.sections import (
    alert_notes,
    certificate_text,
    data_header,
    error_tables,
    summary_of,
    threshold_table,
)
from .covariance_choice import Covariance
from .results import LikelihoodResults

#: Differences of effects below this share of the largest effect are rounding of 0.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ResultsWithoutErrors(LikelihoodResults):
    """A likelihood model whose estimates have no standard errors.

    Attributes
    ----------
    no_errors : str
        Why there are no standard errors, as a note.
    part : str
        The part of the model that is the reason.
    with_errors : str
        What to fit instead for a summary with confidence intervals.
    """

    no_errors: ClassVar[str]
    part: ClassVar[str]
    with_errors: ClassVar[str]

    @property
    def own_covariance(self) -> Covariance:
        """The model covariance, which is unknown."""
        return Covariance("model")

    @property
    def standard_error_notes(self) -> tuple[str, ...]:
        return (self.no_errors,)

    @property
    def joined_levels(self) -> dict[str, list[tuple[Any, ...]]]:
        """The levels of each ordered predictor, with levels of equal effect joined.

        Returns
        -------
        dict of str to list of tuple
            For the variable of each mono(x) and fuse(x): its levels, lowest first, in a
            tuple for each distinct effect. Empty without such terms.

        Examples
        --------
        >>> from ordstat import ElasticNet, datasets, ordfit
        >>> anes = datasets.load("anes96")
        >>> fit = ordfit("PID ~ fuse(educ) + age", anes, penalty=ElasticNet())
        >>> fit.joined_levels
        {'educ': [(1, 2), (3,), (4, 5, 6, 7)]}
        """
        return self._joined({})

    def _joined(self, labels: Mapping[str, str]) -> dict[str, list[tuple[Any, ...]]]:
        location = self.parameters.of("location")
        joined: dict[str, list[tuple[Any, ...]]] = {}
        for term, factor, coding in stepped_terms(self.design.spec):
            columns = location[self.design.terms[term.label]]
            effects = np.append(0.0, self.fit.coefficients[columns])
            size = _ROUNDING * np.abs(effects).max()
            new = np.append(True, np.abs(np.diff(effects)) > size)
            groups = [
                tuple(coding.levels[code] for code in codes)
                for codes in np.split(np.arange(new.size), np.flatnonzero(new)[1:])
            ]
            joined[shown_factor(factor, labels)] = groups
        return joined

    def summary(
        self,
        section: str | None = None,
        *,
        exponentiate: bool | None = None,
        level: float = 0.95,
        per: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> Summary:
        """The summary: coefficients without standard errors, and how they were found.

        Parameters
        ----------
        section : {"model", "fit", "errors", "all"}, optional
            One section in full, or all; by default a summary of one screen.
        exponentiate, level, per
            Must be left out: there are no confidence intervals, and coefficients are
            per unit of the columns.
        labels : dict of str to str, optional
            Text for variables or terms, such as {"age": "Age (years)"}.

        Raises
        ------
        OptionError
            `exponentiate`, `level` or `per` is given.
        """
        given = {"exponentiate": exponentiate, "level": level != 0.95, "per": per}
        for name, value in given.items():
            if value:
                raise OptionError(
                    f"{name}= must be left out for fits with {self.part}, whose"
                    " summary shows coefficients only. Use"
                    f" {self.with_errors}."
                )
        texts = label_texts(labels)
        thresholds = threshold_table(pd.DataFrame({"threshold": self.thresholds}))
        converged = (
            "Convergence",
            certificate_text(self.fit.certificate, self.fit.trace),
        )
        notes = (*self._remarks(texts), *self._of_levels(texts), self.no_errors)
        report = Report(
            title=self.title,
            header=(*data_header(self), *self._header(), converged),
            tables=(*self._effects(texts), thresholds, *error_tables(self)),
            notes=(*alert_notes(self), *notes),
        )
        return summary_of(self, section, report)

    @abstractmethod
    def _header(self) -> tuple[tuple[str, Any], ...]:
        """Header pairs about the fit."""

    @property
    @abstractmethod
    def _titles(self) -> dict[str, str]:
        """Titles of the tables of coefficients, by kind."""

    def _shown(self, kind: str) -> list[int]:
        """The parameters of a kind that the summary shows."""
        return [int(row) for row in self.parameters.of(kind)]

    def _effects(self, labels: Mapping[str, str]) -> list[Table]:
        """The tables of coefficients."""
        tables = []
        for kind, title in self._titles.items():
            rows = self._shown(kind)
            index = [self.parameters.records[row].shown(labels) for row in rows]
            estimates = self.fit.coefficients[rows]
            frame = pd.DataFrame({"estimate": estimates}, index=index)
            if len(frame):
                tables.append(Table(title=title, frame=frame, role=kind))
        return tables

    def _remarks(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        """Notes on the coefficients."""
        return ()

    def _of_levels(self, labels: Mapping[str, str]) -> list[str]:
        """A note for each ordered predictor, on the levels that it joins."""
        notes = []
        for variable, groups in self._joined(labels).items():
            equal = [" = ".join(map(str, group)) for group in groups if len(group) > 1]
            which = f"levels with equal effects: {'; '.join(equal)}"
            if not equal:
                which = "all levels have different effects"
            if len(groups) == 1:
                which = "all levels have the same effect"
            notes.append(f"{variable} (reference level {groups[0][0]}): {which}.")
        return notes
