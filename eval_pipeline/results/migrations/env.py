"""Alembic's entry: runs the migrations on the connection that ``results.migrate`` hands over."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table="alembic_version",
    version_table_schema="results",
)
with context.begin_transaction():
    context.run_migrations()
