"""Places for calls in flight, and buckets of requests and tokens, each alone."""

import asyncio
import threading

import pytest

from jury_adapters.models.rate_limits import Bucket, Slots
from jury_adapters.testing import no_waiting


def test_slots_are_given_in_the_order_in_which_they_were_asked_for():
    async def main():
        slots, order = Slots(1), []
        assert slots.taken()

        async def call(number):
            await slots.turn()
            order.append(number)
            slots.release()

        tasks = [asyncio.create_task(call(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert not slots.taken()
        slots.release()
        await asyncio.gather(*tasks)
        assert slots.taken()
        return order

    assert asyncio.run(main()) == [0, 1, 2, 3, 4]


def test_a_released_slot_wakes_a_call_in_another_thread():
    slots, began, done = Slots(1), threading.Event(), []
    assert slots.taken()

    async def call():
        began.set()
        await slots.turn()
        done.append(True)

    thread = threading.Thread(target=lambda: asyncio.run(call()))
    thread.start()
    assert began.wait(5)
    slots.release()
    thread.join(5)
    assert done == [True]


@pytest.mark.parametrize("per_minute", [60.0, 600.0])
def test_a_bucket_holds_what_one_second_brings(per_minute):
    bucket = Bucket(per_minute)
    waits = [bucket._reserve(1) for _ in range(int(per_minute / 60) + 1)]
    assert waits[:-1] == [0.0] * (len(waits) - 1)
    assert waits[-1] > 0


def test_a_wait_for_a_bucket_that_is_cancelled_gives_its_amount_back():
    async def main():
        bucket = Bucket(60.0)
        await bucket.drawn(1)
        waiting = asyncio.create_task(bucket.drawn(100))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait([waiting])
        return bucket._reserve(0)

    assert asyncio.run(main()) < 1


def test_without_waiting_a_bucket_does_not_sleep():
    async def main():
        bucket = Bucket(1.0)
        with no_waiting():
            await asyncio.wait_for(bucket.drawn(1000), 5)

    asyncio.run(main())
