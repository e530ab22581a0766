"""Answers of questionnaires: texts for "no answer", and words of rating scales."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

#: Digits of the longest codes of missing answers, such as 9999999.
_MOST_DIGITS = 8
_LENGTHS = range(2, _MOST_DIGITS + 1)
_REPEATED = [int(digit * length) for length in _LENGTHS for digit in "78"]
_NINES = [10**length - step for length in _LENGTHS for step in (1, 2, 3, 4)]
_POSITIVE = (7, 8, 9, 66, *_REPEATED, *_NINES)
#: Codes of missing answers in surveys.
CODES = np.array([-1, -2, -3, *(-code for code in _POSITIVE), *_POSITIVE])

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
#: Answers that are not part of a scale, in the languages of large surveys. The German
#: "trifft nicht zu" is part of one.
_NO_ANSWERS = (
    r"do(n'?t| ?not|n’t)[ _]*(know|remember)|\bdk\b|refus(ed|al)|\brefuse[sd]? to\b",
    r"\bnon?[ _-]?(answer|response|opinion|reply|information|data)\b",
    r"not[ _](applicable|stated|asked|available|answered|reported|recorded|specified)",
    r"\bnot[ _](ascertained|known|given)\b|\b(prefer|rather)[ _]not\b|decline[ds]? to",
    r"\bcan(no|['’]?)t (say|choose|remember)|missing|unknown|unspecified|inapplicable",
    r"^n\.?/?a\.?$|^nan$|^null$|^none given$|^\s*$",
    # German
    r"\bkeine? (angaben?|antwort|meinung)\b|^k\. ?a\.?$|\bwei(ß|ss) (ich )?nicht\b",
    r"\bkann (ich )?nicht sagen\b|verweigert|unbekannt|\bnicht beantworte[nt]",
    # Dutch
    r"\bweet (ik )?niet\b|\bgeen (antwoord|mening|opgave)\b|zeg ik liever niet",
    r"\b(ge)?weigerd?t?\b|onbekend|\bn\.v\.t\b",
    # French
    r"\bne (sais|sait|savent) pas\b|\bnsp\b|\b(sans|pas de|non)[ -]r[ée]ponse\b",
    r"\bsans (avis|opinion|objet)\b|\bse prononce(nt)? pas\b|préfère ne pas",
    r"\brefus\b|refuse de|\bnon (concerné|applicable)",
    # Spanish, Portuguese, Italian
    r"\bno (sabe|sé|contesta|responde|aplica)\b|^ns ?[/-] ?nc$|desconoc|desconhec",
    r"\b(sin|sem) (respuesta|opini[óo]n|resposta|opini[ãa]o)\b",
    r"\b(prefiero no|prefiro não|preferisco non)\b|\bnão (se aplica|sabe|sei|respond)",
    r"^non (so|sa)$|\bnon (risponde|applicabile)\b|\b(nessuna|senza) opinione\b",
    r"\bnessuna risposta\b",
    # Swedish, Norwegian, Danish, Finnish
    r"\bve[td] (inte|ej|ikke)\b|\b(inget|intet|ikke|ej) svar",
    r"\bingen (åsikt|mening|uppfattning)\b|\ben osaa sanoa\b|\bei vastausta\b",
    # Polish, Czech, Turkish
    r"\bnie wiem\b|trudno powiedzieć|\bodmowa\b|\bbrak (danych|odpowiedzi)\b",
    r"\bnevím\b|bez odpovědi|\bbilmiyorum\b|\bfikrim yok\b|\b(cevap|yanıt) yok\b",
    # Russian, Chinese, Japanese, Korean
    r"не знаю|затрудня|нет ответа|отказ|不知道|无回答|無回答|拒绝回答|拒絕回答|不适用",
    r"不適用|わからない|答えたくない|모름|무응답",
)
_NO_ANSWER = re.compile("|".join(_NO_ANSWERS), re.IGNORECASE)

#: Steps of scales from the lowest to the highest, with synonyms; {0} and {1} stand for
#: each of _PAIRS.
_SCALES = (
    (
        "never",
        "rarely|seldom|hardly ever",
        "sometimes|occasionally",
        "often|frequently|usually|most of the time",
        "always",
    ),
    (
        "none|not at all|no",
        "a little|slight|mild|very low|minor",
        "low|small|little",
        "some|somewhat|medium|moderate|moderately",
        "a lot|high|large|severe|strong|major",
        "very high|very large|very severe|extremely|extreme",
    ),
    (
        "terrible|very bad|very poor",
        "bad|poor",
        "fair|average|acceptable",
        "good",
        "very good",
        "excellent",
    ),
    ("too little", "about right", "too much"),
    (
        "strongly {1}|very {1}|{1} strongly",
        "{1}",
        "somewhat {1}|slightly {1}",
        "neither|neutral|undecided|neither {0} nor {1}",
        "somewhat {0}|slightly {0}",
        "{0}",
        "strongly {0}|very {0}|{0} strongly",
    ),
)
_PAIRS = (
    ("agree", "disagree"),
    ("satisfied", "dissatisfied"),
    ("likely", "unlikely"),
    ("important", "unimportant"),
)


def is_number(text: str) -> bool:
    """Whether a text is a decimal number."""
    return _NUMBER.fullmatch(text.strip()) is not None


def no_answer(label: Any) -> bool:
    """Whether a label is a text that says that there is no answer."""
    return isinstance(label, str) and _says_none(label)


@lru_cache(maxsize=4096)
def _says_none(text: str) -> bool:
    # a search tries every phrase at every letter, and fits meet the same labels again
    return _NO_ANSWER.search(text) is not None


def scale_order(labels: Iterable[str]) -> list[str]:
    """The labels from the lowest to the highest if all are words of one scale; else an
    empty list.

    Examples
    --------
    >>> scale_order(["high", "low", "medium"])
    ['low', 'medium', 'high']
    """
    words = {label: " ".join(label.lower().split()) for label in labels}
    for scale, pair in product(_SCALES, _PAIRS):
        ranks = {
            word: rank
            for rank, step in enumerate(scale)
            for word in step.format(*pair).split("|")
        }
        if ranks.keys() >= {*words.values()}:
            return sorted(words, key=lambda label: ranks[words[label]])
    return []
