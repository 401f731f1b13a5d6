"""``python -m eval_pipeline`` is the command line."""

from eval_pipeline.cli import main

main()
