"""All kinds of values that a file holds, the most common first."""

from __future__ import annotations

from .frames import FRAMES
from .models import MODELS
from .packing import Kind
from .values import VALUES

KINDS: tuple[Kind, ...] = (*VALUES, *FRAMES, *MODELS)
