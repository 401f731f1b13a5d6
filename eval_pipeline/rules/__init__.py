"""Every rule, written once: the command line, the asset checks and the tests call the same functions."""

from eval_pipeline.rules.rule import Offence, Rule, Severity

__all__ = ["Offence", "Rule", "Severity"]
