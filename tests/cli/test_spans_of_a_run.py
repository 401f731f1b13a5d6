"""A whole run with a collector named in the environment: what it is sent, and what it can do to the run."""

from tests.cli.project import Project
from tests.cli.test_packs import adding, pack
from tests.otlp_collector import attributes, collecting


def test_a_run_sends_its_traces_and_nothing_of_its_packs(project: Project) -> None:
    folder = pack(project, adding("of-a-customer", 40, 2))
    with collecting() as collector:
        ended = project.run("run", "--pack", folder, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=collector.url)
    assert ended.code == 0, ended.err
    roots = [attributes(span) for span in collector.spans if not span.parent_span_id]
    assert {(told["gen_ai.agent.name"], told["eval.verdict"]) for told in roots} == {("adder", "PASS")}
    assert "two-and-two" in {told["eval.example"] for told in roots}
    assert not any(b"customer" in span.SerializeToString() for span in collector.spans)


def test_a_collector_that_refuses_is_told_and_changes_no_verdict(project: Project) -> None:
    with collecting(status=400) as collector:
        ended = project.run("run", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=collector.url)
    assert ended.code == 0
    assert "GREEN" in ended.out
    assert "traces of adder: 0 spans sent; the collector did not take the next" in ended.err
