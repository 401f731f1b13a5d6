"""Where a run was published as an experiment."""

from alembic import op

revision = "0005"
down_revision = "0004"

UP = """
create table results.experiments (
    run_id text not null references results.runs on delete cascade,
    agent text not null,
    url text not null,
    published_at timestamptz not null default now(),
    primary key (run_id, agent)
);
"""


def upgrade() -> None:
    op.execute(UP)


def downgrade() -> None:
    op.execute("drop table results.experiments")
