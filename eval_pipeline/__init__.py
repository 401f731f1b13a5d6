"""The harness that decides whether a set of agents may be released.

The way of the data is the order of the files: dataset, target, run, outcome, evaluator, verdict, board, gate.
"""
