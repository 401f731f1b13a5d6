"""Where runs were published as experiments: one address for each agent of a run."""

from collections.abc import Mapping

from eval_pipeline.results.database import Database


def keep(database: Database, run_id: str, agent: str, url: str) -> None:
    """Keeps the address of an agent's experiment; the one of an earlier publication is replaced."""
    with database.transaction() as db:
        db.execute(
            "insert into results.experiments (run_id, agent, url) values (%s, %s, %s)"
            " on conflict (run_id, agent) do update set url = excluded.url, published_at = now()",
            (run_id, agent, url),
        )


def of_run(database: Database, run_id: str) -> Mapping[str, str]:
    """The addresses by agent."""
    with database.transaction() as db:
        db.execute("select agent, url from results.experiments where run_id = %s order by agent", (run_id,))
        return {row["agent"]: row["url"] for row in db}
