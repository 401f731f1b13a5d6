"""What people are to be told, each event once, and which nights have been looked at."""

from alembic import op

revision = "0004"
down_revision = "0003"

UP = """
create table results.alerts (
    key text primary key,
    kind text not null,
    title text not null,
    body text not null,
    created_at timestamptz not null default clock_timestamp(),
    sent_at timestamptz,
    attempts integer not null default 0,
    problem text
);
create index alerts_to_send on results.alerts (created_at) where sent_at is null;
create table results.alert_deliveries (
    key text not null references results.alerts on delete cascade,
    channel text not null,
    taken_at timestamptz not null default clock_timestamp(),
    primary key (key, channel)
);
comment on column results.alert_deliveries.channel is 'a digest of its address, which is a secret';
create table results.alerted_nights (
    night text primary key,
    looked_at timestamptz not null default now()
);
"""


def upgrade() -> None:
    op.execute(UP)


def downgrade() -> None:
    op.execute("drop table results.alert_deliveries; drop table results.alerts; drop table results.alerted_nights")
