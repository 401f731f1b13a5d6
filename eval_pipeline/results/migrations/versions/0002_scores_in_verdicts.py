"""Scores lie in the row of their example's verdict: one row to write and check for an example, not one for each key.

What reads scores by SQL goes on as before, through a view of the old name and columns.
"""

from alembic import op

revision = "0002"
down_revision = "0001"

UP = """
alter table results.verdicts add column scores json not null default '[]';
comment on column results.verdicts.scores is '[[trial, key, value, comment, unanswered], ...]';
update results.verdicts v set scores = found.scores
from (
    select run_id, agent, example_id,
           json_agg(json_build_array(trial, key, value, comment, unanswered) order by trial, key) as scores
    from results.scores group by run_id, agent, example_id
) found
where (v.run_id, v.agent, v.example_id) = (found.run_id, found.agent, found.example_id);
drop table results.scores;
create view results.scores as
select run_id, agent, example_id, (score ->> 0)::integer as trial, score ->> 1 as key,
       (score ->> 2)::double precision as value, score ->> 3 as comment, (score ->> 4)::boolean as unanswered
from results.verdicts, json_array_elements(scores) as score;
"""

DOWN = """
create table results.old_scores as select * from results.scores;
drop view results.scores;
alter table results.verdicts drop column scores;
alter table results.old_scores rename to scores;
alter table results.scores add primary key (run_id, agent, example_id, trial, key),
    add foreign key (run_id, agent) references results.run_agents on delete cascade,
    add check (value >= 0 and value <= 1),
    alter column unanswered set not null, alter column unanswered set default false, alter column value set not null;
"""


def upgrade() -> None:
    op.execute(UP)


def downgrade() -> None:
    op.execute(DOWN)
