"""Governance: what is decided about a submission. Code over typed records; no model is asked, no text is obeyed."""

from bookkeeping.agents.clerk.governance.case import Case, case_of
from bookkeeping.agents.clerk.governance.ruling import Ruling, govern

__all__ = ["Case", "Ruling", "case_of", "govern"]
