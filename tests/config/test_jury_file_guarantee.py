"""Files of calibrated juries: the guarantee applies at every load, and is void for any other jury."""

from pathlib import Path

import pytest
import yaml
from config_support import problem, write

from jury_adapters import CascadedJury
from jury_adapters.calibrate import CalibratedJury, Guarantee, calibrate
from jury_adapters.config import load_jury

JURY = """
name: support
tiers:
  - {name: empty, policy: reject_on_any_fail, judge: {check: not_empty}}
  - name: two
    policy: {escalate_below: 0.6}
    judge: {jurors: {a: {recorded: a}, b: {recorded: b, weight: 3}}}
  - {name: last, judge: {recorded: c, labels: {good: pass, bad: fail}}}
"""
VOTES = {
    "both pass": {"a": "PASS", "b": "PASS", "c": "good"},
    "split": {"a": "FAIL", "b": "PASS", "c": "good"},
    "unsure": {},
}


def case(number: int) -> dict:
    good = bool(number % 3)
    votes = {"a": "PASS" if good else "FAIL", "b": "PASS" if good else "FAIL", "c": "good" if good else "bad"}
    return {"answer": f"Answer {number}.", "metadata": {"votes": votes, "human_label": "PASS" if good else "FAIL"}}


CASES = [case(number) for number in range(120)]


@pytest.fixture(scope="module")
def calibration(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CalibratedJury]:
    """A folder with a jury file and the file that a calibration of it wrote, and the jury of the calibration."""
    folder = tmp_path_factory.mktemp("calibrated")
    jury = load_jury(write(folder, JURY))
    found = calibrate(jury, CASES, agreement=0.9, jury_file="jury.yaml")
    write(folder, found.guarantee.to_yaml(), "calibrated.yaml")
    return folder, found


@pytest.fixture
def calibrated(calibration: tuple[Path, CalibratedJury]) -> Path:
    return calibration[0]


def test_a_calibrated_file_makes_the_jury_with_its_guarantee(calibration, monkeypatch) -> None:
    calibrated, found = calibration
    plain = load_jury(calibrated / "jury.yaml")
    jury = load_jury(calibrated / "calibrated.yaml")
    assert (
        isinstance(jury, CalibratedJury),
        type(plain) is CascadedJury,
        jury.jury.fingerprint,
        jury.guarantee.n,
        jury.fingerprint != plain.fingerprint,
    ) == (True, True, plain.fingerprint, 120, True)
    verdicts = {name: jury.judge(answer="x", metadata={"votes": votes}) for name, votes in VOTES.items()}
    assert (
        bool(verdicts["both pass"].passed),
        verdicts["unsure"].status,
        verdicts["unsure"].stopped_at,
        jury.judge(answer=" ").stopped_at,
    ) == (True, "ABSTAIN", "abstained", "empty")
    assert (jury.guarantee, jury.fingerprint, [one.status for one in jury.judge_many(CASES)]) == (
        found.guarantee,
        found.fingerprint,
        [one.status for one in found.judge_many(CASES)],
    )
    monkeypatch.chdir(calibrated)
    assert load_jury("calibrated.yaml").fingerprint == jury.fingerprint


CHANGES = {
    "a name": ("name: support", "name: other"),
    "a name of a tier": ("name: two", "name: both"),
    "a policy": ("0.6", "0.7"),
    "a weight": ("weight: 3", "weight: 2"),
    "a juror": ("recorded: a}", "recorded: c}"),
    "a label": ("bad: fail", "bad: pass"),
    "a check": ("check: not_empty", "check: length_between"),
    "a rule": ("weight: 3}}", "weight: 3}}, voting: veto"),
    "a tier less": ("  - {name: empty, policy: reject_on_any_fail, judge: {check: not_empty}}\n", ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_guarantee_is_void_for_any_other_jury(change: str, calibrated: Path, tmp_path: Path) -> None:
    before, after = CHANGES[change]
    assert before in JURY
    write(tmp_path, JURY.replace(before, after), "jury.yaml")
    text = (calibrated / "calibrated.yaml").read_text()
    path = write(tmp_path, text, "calibrated.yaml")
    with pytest.raises(ValueError, match="the guarantee is of the jury with the fingerprint") as refused:
        load_jury(path)
    assert (str(refused.value).startswith(f"{path}: guarantee: "), len(str(refused.value).splitlines())) == (True, 1)
    write(tmp_path, JURY, "jury.yaml")
    assert isinstance(load_jury(path), CalibratedJury)


def test_a_calibrated_file_with_a_mistake_is_refused_in_one_line(calibrated: Path, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    write(tmp_path, JURY, "inner/jury.yaml")
    content = yaml.safe_load((calibrated / "calibrated.yaml").read_text())
    other = {**content, "jury": "inner/jury.yaml"}
    values = content["guarantee"]
    rows = [
        ({**other, "guarantee": {**values, "n": "many"}}, "guarantee.n: Input should be a valid integer"),
        ({**other, "guarantee": {**values, "errors": 119}}, "guarantee: the numbers contradict each other"),
        ({**other, "guarantee": {**values, "agrement": 1}}, "guarantee.agrement: Extra inputs"),
        ({**other, "guarantee": 3}, "guarantee: Input should be a valid dictionary"),
        ({"jury": "inner/jury.yaml"}, "guarantee: Field required"),
        ({"guarantee": values}, "a judge is a mapping with exactly one of the keys"),
        ({**other, "name": "x"}, "unknown key 'name'; allowed here: jury, guarantee"),
        ({"jurors": [other]}, "jurors[0]: a judge is a mapping with exactly one of the keys"),
        ({**other, "jury": "jury.yaml"}, "jury: that file is a calibrated jury itself"),
        ({**other, "jury": "nowhere.yaml"}, "jury: "),
    ]
    for given, said in rows:
        found = problem(tmp_path, yaml.safe_dump(given))
        assert found.startswith(said), given
        assert len(found.splitlines()) == 1
    assert problem(tmp_path, yaml.safe_dump({**other, "guarantee": {}})).startswith(
        "guarantee.agreement: Field required"
    )
    assert problem(tmp_path, yaml.safe_dump(other)) == ""


def test_the_jury_of_a_calibrated_file_needs_the_same_permissions(tmp_path: Path) -> None:
    text = "{criterion: 'Is it so?', model: 'vllm:m', base_url: 'http://localhost:9/v1'}"
    write(tmp_path, text, "inner.yaml")
    jury = load_jury(tmp_path / "inner.yaml", allow_base_url=True)
    guarantee = Guarantee(
        agreement=0.9, delta=0.1, threshold=0.5, tiers={"jury": 50}, n=60, decided=50, errors=1, bound=0.1,
        constant="PASS", constant_agreement=0.5, jury_file="inner.yaml", fingerprint=jury.fingerprint,
    )  # fmt: skip
    path = write(tmp_path, guarantee.to_yaml(), "calibrated.yaml")
    with pytest.raises(ValueError, match=r"inner\.yaml: base_url: this address would get the judged texts"):
        load_jury(path)
    assert isinstance(load_jury(path, allow_base_url=True), CalibratedJury)
