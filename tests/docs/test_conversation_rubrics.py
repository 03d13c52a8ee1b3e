"""The page about conversations lists the rubrics that show the messages before an answer where there are any."""

import re

from doc_pages import ROOT

from jury_adapters.critic.rubric import Rubric

RUBRICS = [path.stem for path in (ROOT / "jury_adapters/critic/rubrics").glob("*.yaml")]
OF_THREADS = {"resolution", "role_adherence"}


def test_the_page_names_each_rubric_that_shows_messages_and_does_not_require_them():
    page = (ROOT / "docs/how_to/conversations.md").read_text(encoding="utf-8")
    listed = re.search(r"And for children\?\*:(.*?)\. Others, such as (.*?), do not", page, re.DOTALL)
    rubrics = [Rubric.bundled(name) for name in RUBRICS if name != "criteria"]
    shown = {one.name for one in rubrics if "messages" in one.user_template.names}
    optional = {one.name for one in rubrics if "messages" not in one.requires} & shown
    assert set(re.findall(r"`(\w+)`", listed[1])) == optional - OF_THREADS
    assert not set(re.findall(r"`(\w+)`", listed[2])) & shown
