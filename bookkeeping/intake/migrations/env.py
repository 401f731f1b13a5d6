"""Alembic's entry point; run by bookkeeping.intake.migrate, which passes the connection."""

from alembic import context
from sqlalchemy import text

connection = context.config.attributes["connection"]
connection.execute(text("CREATE SCHEMA IF NOT EXISTS intake"))
context.configure(connection=connection, version_table_schema="intake")
with context.begin_transaction():
    context.run_migrations()
