"""The seeds, what the fuzzer found, and a short search by hypothesis; the long search is ``fuzz_nightly.py``."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_nightly import NAMES
from targets import TARGETS

from jury_adapters import InputError, Rubric
from jury_adapters.critic.answers import Choice, Scale

HERE = Path(__file__).parent
SEEDS = sorted((HERE / "corpus").glob("*/*"))
WORDS = [
    line.strip()[1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1")
    for line in (HERE / "words.dict").read_text(encoding="ascii").splitlines()
]
pieces = st.one_of(st.sampled_from(WORDS), st.binary(max_size=6), st.text(max_size=6).map(lambda t: t.encode()))
few = settings(examples(60), suppress_health_check=[HealthCheck.too_slow])


def test_every_target_is_fuzzed_and_has_seeds():
    assert set(NAMES) == set(TARGETS) == {seed.parent.name for seed in SEEDS}


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{seed.parent.name}-{seed.name}")
def test_a_seed_keeps_the_promise(seed):
    TARGETS[seed.parent.name](seed.read_bytes())


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@few
def test_words_in_any_order_keep_the_promise(name, data):
    TARGETS[name](b"".join(data.draw(st.lists(pieces, max_size=20))))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@few
def test_a_seed_with_a_wound_keeps_the_promise(name, data):
    seed = data.draw(st.sampled_from([seed for seed in SEEDS if seed.parent.name == name])).read_bytes()
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, min(len(seed), start + 12)))
    TARGETS[name](seed[:start] + data.draw(pieces) + seed[end:])


class TestFound:
    """Findings of the fuzzer and of the review beside it."""

    @pytest.mark.parametrize("text", ["-.0", '{"answer": -0.0}', "-0"])
    def test_the_rating_minus_nought_is_nought(self, text):
        TARGETS["reply"](text.encode())
        read = Scale(minimum=0, maximum=1, pass_mark=0.5, integer=False).read(-0.0)
        assert isinstance(read, Choice)
        assert (read.text, str(read.score)) == ("0", "0.0")

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "place",
        [
            "labels: {}",
            "examples: [{{fields: {{question: q, answer: a, metadata: {}}}, answer: YES, reasoning: r}}]",
            "description: {}",
        ],
    )
    def test_a_rubric_of_a_few_lines_cannot_stand_for_millions_of_values(self, place):
        levels = ["l0: &a0 [x]"]
        levels += [f"l{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
        text = f"criteria: c\n{place.format('{' + ', '.join(levels) + '}')}\n"
        assert len(text) < 2000
        with pytest.raises(InputError, match="aliases counted where they are used"):
            Rubric.from_yaml(text)

    def test_honest_aliases_are_read(self):
        rubric = Rubric.from_yaml("criteria: &c The answer is polite.\ndescription: *c\n")
        assert rubric.description == rubric.criteria
