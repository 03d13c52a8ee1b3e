"""Budgets of evaluators of another package."""

import asyncio

from jury_adapters import Budget
from jury_adapters.langchain import from_evaluator

CASES = [{"question": "q", "answer": f"answer {number}", "contexts": ["c"]} for number in range(4)]


def test_an_evaluator_of_another_package_that_is_cut_off_costs_its_price():
    async def slow(outputs):
        await asyncio.sleep(20)

    judge = from_evaluator(slow, cost=0.25, timeout=0.1)
    budget = Budget(max_usd=0.6)
    list(judge.judge_many(CASES, budget=budget))
    assert (budget.spent.cost_usd, budget.refused) == (0.5, 2)
