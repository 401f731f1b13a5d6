"""Attestation: the reasoning in this process is the reasoning on disk.

    attestation = Attestation.of(suite)
    attestation.differences()      # () when all is as the files say
    attestation.check(graph, {})   # raises ReasoningSubstituted unless the graph is the one that the source builds

What is compared, what it finds and what it cannot find is written in docs/attestation.md.
"""

from eval_pipeline.guard import SUBSTITUTED
from eval_pipeline.rules.attestation.attest import RULE, WHY, Attestation, substituted

__all__ = ["RULE", "SUBSTITUTED", "WHY", "Attestation", "substituted"]
