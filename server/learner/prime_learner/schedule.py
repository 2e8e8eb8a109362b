"""The learning rate as a pure function of the step: nothing to save, nothing to restore."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from .strict import Strict


class Schedule(Strict):
    shape: Literal["cosine", "constant"] = "cosine"
    peak: float = Field(default=1e-3, gt=0)
    warmup_steps: int = Field(default=50, ge=0)
    final_fraction: float = Field(default=0.1, ge=0, le=1)
    """Cosine: what is left of the peak at the last step. No effect on a constant rate."""


def learning_rate(schedule: Schedule, step: int, steps: int) -> float:
    """Rate of step `step` (from 0) of `steps`."""
    if step < schedule.warmup_steps:
        return schedule.peak * (step + 1) / schedule.warmup_steps
    if schedule.shape == "constant":
        return schedule.peak
    whole = max(steps - 1 - schedule.warmup_steps, 1)
    done = min((step - schedule.warmup_steps) / whole, 1.0)
    cosine = 0.5 * (1 + math.cos(math.pi * done))
    return schedule.peak * (schedule.final_fraction + (1 - schedule.final_fraction) * cosine)
