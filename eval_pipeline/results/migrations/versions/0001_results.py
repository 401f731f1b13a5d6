"""The results: runs, their agents, outcomes, scores, verdicts and boards.

JSON columns are of type json, not jsonb: json keeps NUL escapes and lone surrogates as they were written, jsonb refuses
them, and an outcome must never be lost for what an agent said.
"""

from alembic import op

revision = "0001"
down_revision = None

TABLES = """
create table results.runs (
    run_id text primary key,
    created_at timestamptz not null default now(),
    finished_at timestamptz,
    interrupted boolean not null default false,
    partial boolean not null,
    model text,
    trials integer not null check (trials >= 1),
    selection json not null
);
create table results.run_agents (
    run_id text not null references results.runs on delete cascade,
    agent text not null,
    dataset_digest text not null,
    code_version text not null,
    n_examples integer not null,
    n_selected integer not null,
    evaluators_digest text,
    scored_digest text,
    scored_at timestamptz,
    problems json not null default '[]',
    primary key (run_id, agent)
);
comment on column results.run_agents.scored_digest is 'digest of the dataset that the scores were made with';
create table results.outcomes (
    run_id text not null,
    agent text not null,
    example_id text not null,
    trial integer not null,
    position integer not null,
    output_schema integer not null,
    status text not null check (status in ('completed', 'failed', 'skipped')),
    inputs_digest text not null,
    started_at timestamptz not null,
    seconds double precision not null,
    outputs json,
    failure_kind text,
    failure_message text,
    failure_detail text,
    skip_reason text,
    model_calls integer not null default 0,
    input_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    cost_usd numeric not null default 0,
    model_name text,
    model_endpoint text,
    model_returned_id text,
    spans json not null default '[]',
    primary key (run_id, agent, example_id, trial),
    foreign key (run_id, agent) references results.run_agents on delete cascade,
    check ((status = 'completed') = (outputs is not null)),
    check ((status = 'failed') = (failure_message is not null)),
    check ((status = 'skipped') = (skip_reason is not null))
);
create table results.scores (
    run_id text not null,
    agent text not null,
    example_id text not null,
    trial integer not null,
    key text not null,
    value double precision not null check (value >= 0 and value <= 1),
    comment text,
    unanswered boolean not null default false,
    primary key (run_id, agent, example_id, trial, key),
    foreign key (run_id, agent) references results.run_agents on delete cascade
);
create table results.verdicts (
    run_id text not null,
    agent text not null,
    example_id text not null,
    position integer not null,
    verdict text not null check (verdict in ('PASS', 'FAIL', 'ERROR', 'XFAIL', 'XPASS', 'SKIP')),
    decision json not null,
    primary key (run_id, agent, example_id),
    foreign key (run_id, agent) references results.run_agents on delete cascade
);
create table results.boards (
    board_id bigint generated always as identity primary key,
    run_id text not null references results.runs on delete cascade,
    created_at timestamptz not null default now(),
    state text not null check (state in ('GREEN', 'RED', 'UNPROVEN')),
    partial boolean not null,
    board json not null
);
create index boards_by_run on results.boards (run_id, board_id desc);
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute(
        "drop table results.boards, results.verdicts, results.scores, results.outcomes,"
        " results.run_agents, results.runs"
    )
