"""Options of methods whose usual ones take seconds."""

from typing import Any

from ordstat import OrdinalClassifier, RPSForest

LIGHT: dict[str, dict[str, Any]] = {
    **{name: {"members": ("logit", RPSForest(trees=30))} for name in ("blend", "auto")},
    "rps-forest": {"trees": 30},
    "ordboost": {"max_rounds": 100, "depth": 2},
}


def light(method: str, **options: Any) -> OrdinalClassifier:
    """A classifier of a method with the options that make its fit short."""
    return OrdinalClassifier(method, **(LIGHT.get(method, {}) | options))
