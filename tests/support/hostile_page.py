"""Reports whose every field holds an attack on the page that shows them."""

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Tier
from jury_adapters.core.batch import stream
from jury_adapters.core.claims import Claim
from jury_adapters.core.judgment import Finding
from jury_adapters.report import Report

RUN = "document.documentElement.dataset.owned='yes'"
ATTACKS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<!--<script>--><script>{RUN}</script>",
    f"</title></style></textarea><svg onload={RUN}>",
    f"<img src=x onerror={RUN}>",
    f"\"'><details open ontoggle={RUN}>",
    f"{{{{ 7*7 }}}}{{% raw %}}<iframe srcdoc='<script>parent.{RUN}</script>'>",
    f"javascript:{RUN}//<a href=javascript:{RUN} autofocus onfocus={RUN}>",
    f"]]></g></svg><script>{RUN}</script>\u2028\u202e<script>{RUN}</script>",
]


def hostile_report(attack, *, passing=True):
    """Three cases judged by a cascade with the attack in every text that a person or a model can set."""

    def juror(name, says):
        def judge(case):
            if says is None:
                raise ValueError(attack)
            finding = Finding(attack, says, attack, attack)
            claim = Claim(attack, "supported" if says else "unsupported", attack, attack, 1, attack)
            details = {"findings": (finding,), "claims": (claim,), "model": attack}
            return Judgment("PASS" if says else "FAIL", reasoning=attack, score=0.7, **details)

        return Judge.from_function(judge, name=f"{name} {attack}")

    first = Ensemble([juror("a", True), juror("b", False), juror("c", None)])
    jury = CascadedJury([Tier(f"t {attack}", first, "escalate_on_split"), Tier(f"u {attack}", juror("d", passing))])
    fields = {"question": attack, "answer": attack, "contexts": [attack], "reference": attack, "generator": attack}
    more = {
        "candidates": [attack, attack],
        "messages": [{"role": attack, "content": attack}],
        "trajectory": [{"tool": attack, "arguments": {attack: attack}, "output": attack, "text": attack}],
    }
    cases = [Case(**fields, **more, metadata={"item_id": f"{at} {attack}", attack: attack}) for at in range(3)]
    return Report.from_results(stream(jury, cases), title=attack)
