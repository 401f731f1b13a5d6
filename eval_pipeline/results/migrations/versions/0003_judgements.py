"""What the judge answered, by a digest of all that it was asked: scoring again pays for nothing that is here."""

from alembic import op

revision = "0003"
down_revision = "0002"

UP = """
create table results.judgements (
    key text primary key,
    run_id text not null references results.runs on delete cascade,
    agent text not null,
    model text not null,
    model_id text not null,
    verdicts json not null,
    input_tokens integer not null,
    output_tokens integer not null,
    cost_usd numeric not null,
    answered_at timestamptz not null default now()
);
create index judgements_of_run on results.judgements (run_id, agent);
comment on table results.judgements is 'run_id and agent are those that asked first, and paid';
"""


def upgrade() -> None:
    op.execute(UP)


def downgrade() -> None:
    op.execute("drop table results.judgements")
