"""How the examples of an agent are cut: everything once, by the order alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.shard import WHOLE, Shard, cut


def test_every_third_example_belongs_to_one_of_three_shards() -> None:
    assert [shard.share("abcdefgh") for shard in cut(3, 8)] == [("a", "d", "g"), ("b", "e", "h"), ("c", "f")]


def test_there_is_no_empty_shard_and_always_one() -> None:
    assert [shard.key for shard in cut(8, 3)] == ["1_of_3", "2_of_3", "3_of_3"]
    assert cut(8, 0) == (WHOLE,)


@given(st.integers(1, 50), st.lists(st.integers(), max_size=120))
def test_every_example_is_in_exactly_one_shard(n_shards: int, items: list[int]) -> None:
    numbered = list(enumerate(items))
    shares = [shard.share(numbered) for shard in cut(n_shards, len(numbered))]
    assert sorted(item for share in shares for item in share) == numbered
    assert all(list(share) == sorted(share) for share in shares)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@given(st.integers(1, 1000).flatmap(lambda of: st.tuples(st.integers(0, of - 1), st.just(of))))
def test_a_key_says_which_shard_it_is(shard: tuple[int, int]) -> None:
    key = Shard(*shard).key
    assert Shard.of_key(key) == Shard(*shard)
    assert key.replace("_", "").isalnum()


@pytest.mark.parametrize("key", ["", "0_of_3", "4_of_3", "1_of_0", "1_of_3_", "one_of_three"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="is not the key of a shard"):
        Shard.of_key(key)
