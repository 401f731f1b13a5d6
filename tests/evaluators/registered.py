"""The evaluators of all registered agents that are installed."""

from eval_pipeline.evaluator import Evaluator
from eval_pipeline.registry import AGENTS
from eval_pipeline.settings import settings
from eval_pipeline.suite import load_agent

SUITES = {entry.name: load_agent(entry, settings().datasets) for entry in AGENTS}
EVALUATORS: dict[tuple[str, str], Evaluator] = {
    (name, item.name): item for name, suite in SUITES.items() for item in suite.evaluators
}
EXACT = {name: item for name, item in EVALUATORS.items() if not any(key.judged for key in item.scores.values())}
"""Without the judge: asking it is a model call."""
