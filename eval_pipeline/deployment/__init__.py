"""The Dagster deployment: wiring only. Every asset's body is a few lines that call the harness."""
