"""Cases of the tests of judge queues, and a judge for them."""

import asyncio

from jury_adapters import Case, Judge

CASE = Case(question="Which capital?", answer="Paris")


def passing(seconds: float = 0.0) -> Judge:
    async def judge(case: Case) -> bool:
        await asyncio.sleep(seconds)
        return True

    return Judge.from_function(judge)
