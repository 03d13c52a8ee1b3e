"""The bounded cache: its size, its order, and use from several threads."""

from concurrent.futures import ThreadPoolExecutor

from jury_adapters.core.bounded_cache import BoundedCache


def test_the_oldest_entry_goes_when_it_is_full():
    cache = BoundedCache(3)
    for number in range(5):
        assert cache.put(number, str(number)) == str(number)
    assert [cache.get(number) for number in range(5)] == [None, None, "2", "3", "4"]
    assert 4 in cache
    assert 1 not in cache


def test_many_threads_leave_no_more_than_the_most_entries():
    cache = BoundedCache(8)

    def fill(start):
        for number in range(start, start + 5000):
            cache.put(number, number)
            assert cache.get(number) in (number, None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(0, 20_000, 5000)))
    assert sum(number in cache for number in range(20_000)) == 8
