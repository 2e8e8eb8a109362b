"""The gradient step and the exports of Prime Agent, and nothing else (docs/learner.md)."""
