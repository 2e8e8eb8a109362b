"""One JSON object a line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping


def json_line(fields: Mapping[str, object]) -> str:
    """With the line break. JSON has no NaN and no infinity: such numbers become null."""
    ready = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in fields.items()
    }
    return json.dumps(ready, ensure_ascii=False, allow_nan=False) + "\n"
