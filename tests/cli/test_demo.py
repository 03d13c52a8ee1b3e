"""The demo, as a newcomer sees it. Its figures are computed here anew, from the votes in its data file."""

import gzip
import json
import os
import re
from functools import cache
from importlib.resources import files
from math import sqrt
from pathlib import Path

import pytest

from jury_adapters.cli.recorded_pairs import LARGE, OTHER_PROMPTS, PROMPT, SMALL, pair_jury
from jury_adapters.core.case import Case
from tests.support.processes import run_command
from tests.tools import demo_votes

DATA = files("jury_adapters.cli") / "data"
TESTED_VOTES = Path(__file__).parents[1] / "data/votes/llmbar_vanilla.jsonl.gz"


@cache
def shown(columns="", **environment):
    done = run_command("demo", environment={**os.environ, "COLUMNS": columns, **environment})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@cache
def figures():
    return json.loads(run_command("demo", "--json").stdout)


@cache
def rows(subset=""):
    read = [json.loads(line) for line in gzip.decompress((DATA / "llmbar.jsonl.gz").read_bytes()).splitlines()]
    return [row for row in read if subset in row["meta"]["subset"]]


def alone(model, subset="Natural", prompt="Metrics_Reference"):
    """Human label of each pair, and the vote of a model alone."""
    return [(row["gold"], row["votes"][f"{model}/{prompt}"]) for row in rows(subset)]


def together(subset="Natural", prompt="Metrics_Reference"):
    """Human label, vote of the jury, and whether GPT-4 was asked; two small models without opposition decide alone."""
    found = []
    for row in rows(subset):
        cast = [row["votes"][f"{model}/{prompt}"] for model in ("PaLM2", "LLaMA2", "Falcon")]
        a, b = cast.count("A"), cast.count("B")
        asked = not ((a >= 2 and b == 0) or (b >= 2 and a == 0))
        found.append((row["gold"], row["votes"][f"GPT-4/{prompt}"] if asked else "A" if a else "B", asked))
    return found


def counts(pairs):
    right = sum(gold == said for gold, said, *_ in pairs)
    undecided = sum(said == "tie" for _, said, *_ in pairs)
    return right, len(pairs) - right - undecided, undecided


def wilson(hits, n, z=1.959964):
    centre, half = hits / n + z * z / (2 * n), z * sqrt(hits / n * (1 - hits / n) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)


def balanced(pairs):
    """Balanced accuracy with its 95 % interval by square-and-add, in percent with one decimal."""
    mean, below, above = 0.0, 0.0, 0.0
    for label in "AB":
        said = [said for gold, said, *_ in pairs if gold == label]
        share = said.count(label) / len(said)
        low, high = wilson(said.count(label), len(said))
        mean, below, above = mean + share / 2, below + (share - low) ** 2, above + (high - share) ** 2
    return tuple(f"{100 * value:.1f}" for value in (mean, mean - sqrt(below) / 2, mean + sqrt(above) / 2))


def difference(one, other):
    """Newcombe's interval (1998, method 10) of the difference of two paired shares, in points with one decimal."""
    n = len(one)
    hits = [(first[0] == first[1], second[0] == second[1]) for first, second in zip(one, other, strict=True)]
    a, b, c, d = (hits.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False)))
    p, q = (a + b) / n, (a + c) / n
    (p_low, p_high), (q_low, q_high) = wilson(a + b, n), wilson(a + c, n)
    product = a * d - b * c
    product = max(product - n / 2, 0) if product > 0 else product
    phi = product / sqrt((a + b) * (c + d) * (a + c) * (b + d))
    low = p - q - sqrt((p - p_low) ** 2 - 2 * phi * (p - p_low) * (q_high - q) + (q_high - q) ** 2)
    high = p - q + sqrt((p_high - p) ** 2 - 2 * phi * (p_high - p) * (q - q_low) + (q - q_low) ** 2)
    return tuple(f"{100 * value:+.1f}" for value in (p - q, low, high))


def test_the_table_is_what_the_votes_come_to():
    asked = sum(escalated for *_, escalated in together())
    rows_of_table = {
        "the jury": (together(), 300 * 0.005 + asked * 0.100),
        "GPT-4 alone": (alone("GPT-4"), 10.0),
        **{f"{model} alone": (alone(model), 0.5) for model in ("PaLM2", "LLaMA2", "Falcon")},
    }
    for name, (pairs, cost) in rows_of_table.items():
        mean, low, high = balanced(pairs)
        figures_of_row = [*map(str, counts(pairs)), mean, "%", low, "to", high, f"${cost:.2f}"]
        (line,) = re.findall(rf"^ +{name}  +(.*)$", shown(), re.MULTILINE)
        assert line.split() == figures_of_row, name


def test_the_constant_answer_is_shown_beside_the_jury():
    golds = [row["gold"] for row in rows("Natural")]
    assert golds.count("B") > golds.count("A")
    (line,) = re.findall(r"^ +always the second  +(.*)$", shown(), re.MULTILINE)
    assert line.split() == [str(golds.count("B")), str(golds.count("A")), "0", "50.0", "%", "$0.00"]


def test_who_stopped_where_is_what_the_votes_come_to():
    for name, escalated in (("small models agree", False), ("GPT-4 decides", True)):
        pairs = [pair for pair in together() if pair[2] is escalated]
        right, wrong, undecided = counts(pairs)
        told = f"{len(pairs)} pairs: {right} right, {wrong} wrong, {undecided} undecided"
        assert re.search(rf"^ +{name} +{told}$", shown(), re.MULTILINE), told


@pytest.mark.parametrize(
    ("subset", "verdict"), [("Natural", "not shown to differ"), ("Adversarial", "less often right")]
)
def test_the_jury_is_compared_with_its_best_juror_and_the_verdict_is_that_of_the_interval(subset, verdict):
    jury, large = together(subset), alone("GPT-4", subset)
    mean, low, high = difference(jury, large)
    assert counts(large)[0] >= max(counts(alone(model, subset))[0] for model in SMALL), "GPT-4 is the best juror"
    found = (
        f"{verdict}: {counts(jury)[0]} right against {counts(large)[0]} ({mean} points, 95 % interval {low} to {high})"
    )
    assert found in " ".join(shown().split())
    assert {"not shown to differ": float(low) < 0 < float(high), "less often right": float(high) < 0}[verdict]


def test_it_is_said_how_the_jury_fares_with_the_other_prompts():
    prompts = {name.split("/")[1] for row in rows() for name in row["votes"]}
    assert prompts == {PROMPT, *OTHER_PROMPTS}
    more = [counts(together(prompt=one))[0] - counts(alone("GPT-4", prompt=one))[0] for one in OTHER_PROMPTS]
    assert min(more) < 0 < max(more)
    told = f"other prompts on record the jury is right on {-min(more)} pairs fewer to {max(more)} more than GPT-4"
    assert told in " ".join(shown().split())


def test_the_whole_set_is_shown_and_the_jury_was_chosen_on_the_rest():
    assert (len(rows("Natural")), len(rows("Adversarial")), len(rows())) == (100, 319, 419)
    best, *others = demo_votes.choose(rows("Adversarial"))
    assert (*best[2:], LARGE) == (SMALL, PROMPT, demo_votes.LARGE)
    assert len(others) == 4 * 8 - 1
    assert all((best[0], -best[1]) >= (right, -escalated) for right, escalated, *_ in others)
    assert best[0] == counts(together("Adversarial"))[0]
    text = " ".join(shown().split())
    assert "All 100 natural pairs count." in text
    assert "are the best ones on the other 319;" in text


def test_the_data_is_what_the_script_makes_of_the_source():
    """The votes with the plain prompt are also in the tests' own data, with the order behind each tie."""
    known = [json.loads(line) for line in gzip.decompress(TESTED_VOTES.read_bytes()).splitlines()]
    by_id = {row["item_id"].removeprefix("LLMBar/"): row for row in known}
    assert len(by_id) == len(rows())
    for row in rows():
        source = by_id[row["item_id"]]
        assert row["gold"] == source["gold"]
        for model in (*SMALL, LARGE, "ChatGPT"):
            vote = source["votes"][f"{model}/Vanilla"]
            orders = {vote["label_order_ab"], vote["label_order_ba"]}
            assert row["votes"][f"{model}/Vanilla"] == ("A" if orders == {"A"} else "B" if orders == {"B"} else "tie")
    assert gzip.decompress(demo_votes.packed(rows())) == gzip.decompress((DATA / "llmbar.jsonl.gz").read_bytes())


def test_the_script_reads_a_clone_of_the_source(tmp_path):
    def winners(first, second):
        return {"results": ["the metrics", {"swap = False": {"winner": first}, "swap = True": {"winner": second}}]}

    for subset in demo_votes.SUBSETS:
        folder = tmp_path / "Dataset/LLMBar" / subset
        for model in (*demo_votes.SMALL, demo_votes.LARGE):
            for prompt in demo_votes.PROMPTS:
                (folder / "evaluators" / model / prompt).mkdir(parents=True)
                found = [winners("1", "1"), winners("1", "2"), winners("2", "2"), winners(None, None)]
                (folder / "evaluators" / model / prompt / "result.json").write_text(json.dumps(found))
        (folder / "dataset.json").write_text(json.dumps([{"label": 1}, {"label": 2}, {"label": 2}, {"label": 1}]))
    read = list(demo_votes.read_source(tmp_path))
    assert len(read) == 4 * len(demo_votes.SUBSETS)
    assert [row["votes"]["GPT-4/CoT"] for row in read[:4]] == ["A", "tie", "B", "tie"]
    assert [row["gold"] for row in read[:4]] == ["A", "B", "B", "A"]
    assert (read[0]["item_id"], read[-1]["meta"]) == ("Natural/0", {"subset": "Adversarial"})


def test_a_large_model_decides_unless_two_small_ones_agree_and_none_is_against_it():
    def judged(*small):
        votes = {f"{model}/{PROMPT}": vote for model, vote in zip((*SMALL, LARGE), (*small, "B"), strict=True)}
        verdict = pair_jury().judge(Case(metadata={"votes": votes}))
        return verdict.label, verdict.usage.total.calls

    assert judged("A", "A", "A") == judged("A", "tie", "A") == ("A", 3)
    assert judged("A", "B", "A") == judged("A", "tie", "tie") == judged("tie", "tie", "tie") == ("B", 4)


def test_the_demo_is_short_needs_no_key_and_leads_on():
    text = shown(OPENAI_API_KEY="", ANTHROPIC_API_KEY="")
    assert len(text.splitlines()) <= 45
    assert max(map(len, shown("80").splitlines())) <= 80
    outcomes = [re.match(r" +(grounded|not grounded|abstained) ", line) for line in text.splitlines()]
    assert {found[1] for found in outcomes if found} == {"grounded", "not grounded", "abstained"}
    assert "jury judge answers.jsonl --jury jury.yaml" in text
    order = ["100 pairs of answers", "the jury  ", "Who stopped where", "offline screen", "Next: judge your own"]
    assert sorted(order, key=text.index) == order


def test_prices_are_called_assumed():
    assert "Prices are assumed, $0.005 and $0.100 (GPT-4) a vote; none are recorded." in " ".join(shown().split())


def test_the_demo_is_not_coloured_where_it_is_no_terminal():
    assert "\x1b[" not in shown()


def test_the_figures_as_json_are_those_of_the_text():
    jury = figures()["jury"]
    by_name = {score["name"]: score for score in jury["scores"]}
    assert list(by_name) == ["the jury", "GPT-4", "PaLM2", "LLaMA2", "Falcon", "always the second"]
    for name, pairs in (("the jury", together()), ("GPT-4", alone("GPT-4"))):
        score = by_name[name]
        assert (score["right"], score["wrong"], score["undecided"]) == counts(pairs)
    assert by_name["always the second"]["balanced_accuracy_interval"] is None
    assert [stop["pairs"] for stop in jury["stopped"]] == [57, 43]
    assert [stop["cost_usd"] for stop in jury["stopped"]] == pytest.approx([57 * 0.015, 43 * 0.115])
    assert sum(stop["cost_usd"] for stop in jury["stopped"]) == pytest.approx(by_name["the jury"]["cost_usd"])
    assert jury["adversarial"]["scores"][0]["right"] == counts(together("Adversarial"))[0]
    assert set(jury["other_prompts"]) == set(OTHER_PROMPTS)
    assert jury["label_comparison"]["labelled_cases"] == 100
    assert len(figures()["screen"]) == 6


def test_all_data_is_attributed_and_small():
    attribution = (DATA / "ATTRIBUTION.md").read_text(encoding="utf-8")
    shipped = [path for path in DATA.iterdir() if path.name != "ATTRIBUTION.md"]
    assert all(f"`{path.name}`" in attribution for path in shipped)
    assert sum(len(path.read_bytes()) for path in shipped) < 50_000
    assert attribution.count("MIT License") >= 1
    assert "Copyright (c) 2023 Princeton Natural Language Processing" in attribution
