"""Jury files that are as they should be, with every option somewhere, by what is in them."""

GOOD = {
    "one check": "jurors: [{check: not_empty}]",
    "every check": """
jurors:
  - check: not_empty
  - {check: contains, texts: [Paris, Rome], need: any, ignore_case: true}
  - {check: contains, texts: Paris, name: names the city}
  - {check: matches, pattern: '[0-9]+', full: false, timeout_s: 0.5}
  - {check: equals, expected: Paris, timeout: 2}
  - {check: valid_json, schema: {type: object, required: [city]}, fenced: true}
  - {check: length_between, minimum: 3, maximum: 100, unit: words}
  - check: refusal_check
voting: unanimous
on_split: abstain
""",
    "every check of a workspace": """
jurors:
  - {check: file_exists, path: out/report.md, kind: file}
  - {check: file_content, path: version.txt, expected: '^1[.]', match: regex, timeout_s: 0.5, encoding: latin-1}
  - {check: directory_superset, expected: reference, exclude: [target/, '*.class'], threshold: 0.9}
  - {check: files_match, include: '*.py', extra: fail, max_bytes: 1000, timeout: 20}
  - {check: coverage_kept, baseline: 81.5, tolerance: 1, floor: 50, metric: branch, report: build/coverage.xml}
  - {check: coverage_improved, by: 5, ceiling: 95}
""",
    "every check of a trajectory": """
jurors:
  - {check: tool_calls, expected: [search, [look, {page: 1}], {tool: end}], order: superset, overrides: {end: ignore}}
  - {check: forbidden_tools, tools: [delete_*, send]}
  - {check: step_limit, max_steps: 10, max_repeats: 2}
  - {check: cost_limit, max_usd: 0.1, max_seconds: 60}
  - {check: no_tool_errors, allowed: 1}
  - check: final_answer
""",
    "gates": """
gates:
  passed: true
  min_confidence: 0.6
  min_agreement: medium
  min_votes: 2
  needs_review: false
  same_family: false
  bias_warning: false
  partial: false
  broken_tiers: false
  decided: true
  max_cost_usd: 0.02
  undefined: fail
jurors: [{check: not_empty}, {check: refusal_check}]
""",
    "gates of a cascade, and gates without a condition": """
gates:
tiers: [{name: only, judge: {check: not_empty}}]
""",
    "every screen": """
jurors:
  - check: grounding_screen
  - check: names_and_numbers
  - check: sentence_alignment
  - {check: sentence_support, threshold: 0.5}
  - {check: context_relevance, threshold: 0.9}
  - {check: undecided, name: last word}
  - check: grounding_screen
    name: with a last word
    final: {check: refusal_check}
""",
    "a cascade with every policy": """
name: all policies
tiers:
  - name: checks
    policy: reject_on_any_fail
    if_broken: reject
    judge:
      jurors: [{check: not_empty}, {check: refusal_check}]
      schedule: early_stop
  - {name: verbatim, policy: accept_on_all_pass, judge: {check: sentence_alignment}}
  - name: sure
    policy: {escalate_below: 0.8}
    judge: {jurors: [{check: not_empty}], voting: average, threshold: 0.6}
  - {name: agreed, policy: escalate_on_split, judge: {check: not_empty}}
  - name: last
    judge:
      tiers:
        - {name: only, judge: {check: not_empty}}
""",
    "nested juries": """
jurors:
  - {jurors: [{check: not_empty}], name: first, weight: 2.5}
  - {tiers: [{name: only, judge: {check: not_empty}}], name: second}
  - {jurors: {a: {check: not_empty, weight: 2}, b: {check: refusal_check}}, name: third, voting: weighted}
errors: propagate
voting: weighted
use_confidence: false
""",
    "a single check": "check: not_empty",
    "a check with gates, a name and a timeout": "{check: valid_json, name: json, timeout: 3, gates: {decided: true}}",
    "jurors by name": """
jurors:
  first: {check: not_empty, weight: 2, required: true, timeout: 5, fallbacks: [{check: refusal_check}]}
  second: {check: refusal_check}
  third: {jurors: {a: {check: not_empty}}}
""",
    "recorded votes": """
jurors:
  - {recorded: gpt-4o, labels: &good {yes: pass, valid: pass, no: fail, invalid: fail, tie: abstain}, cost: 0.01}
  - {recorded: claude, labels: *good, threshold: 0.7, name: the other}
voting: quorum
quorum: [2, 3]
threshold: 1
min_votes: 2
juror_timeout: 5
band_on: share
""",
    "the vote on labels, with words that YAML 1.1 would change": """
jurors: [{recorded: a}, {recorded: b}, {recorded: c}]
on: label
priority: [NO, yes, on]
min_share: 2/3
default_label: off
tie: first
""",
    "a scorecard with the least number": """
name: card
scorecard:
  grounded: {jurors: [{check: names_and_numbers}, {check: sentence_support}]}
  brief: {check: length_between, maximum: 40, timeout: 2}
  answered: {check: not_empty, fallbacks: [{check: refusal_check}]}
pass_when: 2
juror_timeout: 5
gates: {passed: true}
""",
    "a scorecard with names": "scorecard: {a: {check: not_empty}, b: {check: refusal_check}}\npass_when: [a]",
    "a weighted scorecard": """
scorecard: {a: {check: not_empty, weight: 2}, b: {check: refusal_check, weight: 0.5}}
threshold: 0.8
""",
    "scorecards in juries": """
tiers:
  - name: checks
    policy: reject_on_any_fail
    judge:
      scorecard: {a: {check: not_empty}, b: {scorecard: {c: {check: refusal_check}}, pass_when: any}}
  - {name: last, judge: {jurors: [{scorecard: {a: {check: not_empty}}, name: first}, {check: not_empty}]}}
""",
    "bayes": """
jurors: [{recorded: a, labels: {ok: pass, bad: fail}}, {recorded: b, labels: {ok: pass, bad: fail}}]
voting: bayes
reliabilities: {a: 0.9, b: [0.95, 0.7]}
prior: 0.4
threshold: 0.6
""",
}
