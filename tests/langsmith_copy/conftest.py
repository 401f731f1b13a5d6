import pytest

from eval_pipeline.langsmith_service import ENDPOINT
from eval_pipeline.langsmith_service import KEY as KEY_VARIABLE
from eval_pipeline.langsmith_service import connect as connect_to
from tests.langsmith_copy.service import KEY, serving


@pytest.fixture
def service():
    with serving() as served:
        yield served


def connect(service, **options):
    """The real SDK's client of a loopback service; it does not wait between attempts."""
    return connect_to({KEY_VARIABLE: KEY, ENDPOINT: service.url}, backoff_s=0, **options)
