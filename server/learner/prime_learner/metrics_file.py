"""metrics.jsonl of a run: one line per step, each step once, also after a crash."""

from __future__ import annotations

import json
from pathlib import Path


def cut_metrics(path: Path, step: int) -> None:
    """Drops lines of steps that will be done again, and a last line that was cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        return
    kept: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except ValueError:
            break
    path.write_text("".join(kept), "utf-8")
