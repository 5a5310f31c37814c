"""The tables and figures of the Einstein Puzzles paper, and what does not add up in them."""

from __future__ import annotations

from typing import Final

from analytics.papers import Note, PaperItem, TableCell, given, ratios, units
from schemas.store.store import Store

_MODE: Final = (
    "CASE {} WHEN 'provide_seek' THEN 'Information Providing & Seeking' WHEN 'provide' THEN 'Information Providing Only' "
    "WHEN 'seek' THEN 'Information Seeking Only' WHEN 'none' THEN 'No Information Exchange' ELSE {} END"
)
_SHORT: Final = (
    "CASE action_mode WHEN 'provide_seek' THEN 'Provide & Seek' WHEN 'provide' THEN 'Provide Only' WHEN 'seek' THEN 'Seek Only' "
    "WHEN 'none' THEN 'None' ELSE action_mode END"
)
_MODEL: Final = (
    "CASE WHEN policy_p1 = policy_p2 OR model = 'unknown' THEN coalesce(nullif(policy_p1, ''), model) ELSE model END "
    "|| CASE WHEN use_cot = 1 THEN ' CoT' ELSE '' END"
)
_VERIFIER: Final = "CASE verifier WHEN 'none' THEN 'no verifier' ELSE replace(verifier, '_', ' ') END"
_PERCENT: Final = ("SR", "Sub.R", "Corr.R")
_RUNS: Final = "runs of self-play in each mode, without and with the reasoning verifier"


def _measures(row: str, prefix: str, where: str) -> str:
    measures = {"SR": "success", "Sub.R": "sub_r", "StepR": "step_ratio", "Corr.R": "avg_corrected"}
    return " UNION ALL ".join(
        f'SELECT {row} AS "row", {prefix} || \'{name}\' AS col, base_game_id AS "cluster", ({sql})::DOUBLE AS value '
        f"FROM einstein_game_facts WHERE {where} AND {sql} IS NOT NULL"
        for name, sql in measures.items()
    )


_PAIR: Final = """array_to_string(list_transform(list_sort(list_transform(string_split(action_mode, '+'), lambda mode: CASE mode
    WHEN 'provide_seek' THEN '1Provide & Seek' WHEN 'provide' THEN '2Provide Only' WHEN 'seek' THEN '3Seek Only' WHEN 'none' THEN '4None'
    ELSE '5' || mode END)), lambda name: name[2:]), ' + ')"""
"""Both modes of a mixed pair, in the paper's order."""
_CATEGORIES: Final = {
    "Format Following": "format_following",
    "Object not in source bin": "object_not_in_source_bin",
    "Source bin not reachable": "source_bin_not_reachable",
    "Dest. bin not reachable": "dest_bin_not_reachable",
    "Source & destination same": "same_source_dest",
    "Redundant knowl. sharing": "redundant_sharing",
    "No share after seek": "no_share_after_seek",
    "Wrong share after seek": "wrong_share_after_seek",
    "Seek known object": "seek_known_object",
    "Wrong rule understanding": "wrong_rule",
    "Wrong random guessing": "wrong_guess",
    "No Error": "no_error_steps",
}
"""The paper's name -> column of einstein_game_facts."""
_RELEVANT: Final = {
    **dict.fromkeys(("object_not_in_source_bin", "source_bin_not_reachable", "dest_bin_not_reachable", "same_source_dest"), "n_move"),
    **dict.fromkeys(("redundant_sharing", "wrong_share_after_seek"), "n_share"),
    **dict.fromkeys(("no_share_after_seek", "seek_known_object"), "n_ask"),
    **dict.fromkeys(("wrong_rule", "wrong_guess"), "n_move"),
}
"""Column -> the actions that it can befall: the second denominator."""
_WITHIN: Final = f"(CASE verifier WHEN 'none' THEN 'no' ELSE 'reasoning' END) || ' verifier ' || {_SHORT}"
_OF_BOTH: Final = "FROM einstein_game_facts WHERE verifier IN ('none', 'reasoning_verifier', 'reasoning')"
_ERRORS: Final = " UNION ALL ".join(
    f"SELECT '{name}' AS \"row\", {_WITHIN} || '{of}' AS col, base_game_id AS \"cluster\", {column} AS hits, {n} AS n {_OF_BOTH}"
    for name, column in _CATEGORIES.items()
    for of, n in (("", "step_count"), (" of relevant", _RELEVANT.get(column)))
    if n is not None
)
_TOTALS: Final = (
    f"SELECT 'Total Actions' AS \"row\", {_WITHIN} AS col, sum(step_count)::DOUBLE AS value, NULL AS sem, NULL AS low, NULL AS high, "
    f"count(*) AS n {_OF_BOTH} GROUP BY ALL"
)


def _errors(store: Store) -> list[TableCell]:
    """Table 2, over all steps and over the actions that an error can befall, and how many steps there are."""
    return ratios(_ERRORS, percent=("",))(store) + given(_TOTALS)(store)


_WITH_A_PERSON: Final = "cotrace play einstein --player Player1=openai/gpt-4o-mini --player Player2=human"
_SURVEY: Final = (
    f'SELECT {_SHORT} AS "row", labels.question AS col, base_game_id AS "cluster", labels.score AS value '
    "FROM labels INNER JOIN einstein_game_facts USING (episode_id) WHERE labels.source = 'survey' AND labels.rubric = 'partner_survey'"
)
"""Each answer of a person about its partner; one of no number (`na`) is left out."""

ITEMS: Final = (
    PaperItem(
        kind="table",
        number="1",
        title="Success, subgoals, steps and corrections by mode and model, without and with the reasoning verifier",
        needs=_RUNS,
        cells=units(
            _measures(
                f"{_MODE.format('action_mode', 'action_mode')} || ': ' || {_MODEL}",
                f"{_VERIFIER} || ' '",
                "verifier IN ('none', 'reasoning_verifier', 'reasoning')",
            ),
            ddof=0,
            percent=_PERCENT,
        ),
    ),
    PaperItem(
        kind="table",
        number="2",
        title="Errors as a share of all steps and of relevant actions, and steps, without and with the reasoning verifier",
        needs=_RUNS,
        cells=_errors,
    ),
    PaperItem(
        kind="table",
        number="3",
        title="Mixed pairs: success and steps",
        needs="games whose two sides have different modes",
        cells=units(_measures(_PAIR, "''", "action_mode LIKE '%+%' AND verifier = 'none'"), ddof=0, percent=_PERCENT),
    ),
    PaperItem(
        kind="table",
        number="4",
        title="People with each mode: success and steps",
        needs=f"games that a person played ({_WITH_A_PERSON})",
        cells=units(_measures(_SHORT, "''", "'human' IN (policy_p1, policy_p2)"), ddof=0, percent=_PERCENT),
    ),
    PaperItem(
        kind="table",
        number="5",
        title="Modes by verifier, with reasoning: success and steps",
        needs="runs with reasoning, for each verifier",
        cells=units(_measures(f"{_SHORT} || ': ' || {_VERIFIER}", "''", "use_cot = 1"), ddof=0, percent=_PERCENT),
    ),
    PaperItem(
        kind="figure",
        number="2",
        title="Answers of people about their partners, from 0 (strongly disagree) to 1 (strongly agree)",
        needs=f"answers that people give after a game ({_WITH_A_PERSON}, or cotrace dash --play)",
        cells=units(_SURVEY, with_sem=False),
    ),
)

NOTES: Final = (
    Note(
        title="Steps are a ratio over successes only",
        text="StepR leaves out games that failed, so a mode that solves only easy games looks quick; read it with SR.",
        sql="SELECT run, games, successes, stepr FROM einstein_runs ORDER BY run",
    ),
    Note(
        title="Standard errors are those of a population",
        text="They divide by n, not n - 1 (too small by a factor of sqrt((n - 1) / n)), and take games of one puzzle as "
        "independent; the intervals here are over puzzles.",
        sql="SELECT run, count(*) AS games, count(DISTINCT base_game_id) AS puzzles, avg(success) AS mean, stddev_pop(success) / "
        "sqrt(count(*)) AS published_formula, stddev_samp(success) / sqrt(count(*)) AS sample_formula FROM einstein_game_facts "
        "GROUP BY run ORDER BY run",
    ),
    Note(
        title="The two columns of Table 1 differ in more than the verifier",
        text="With a verifier the Llama prompt lacks the assistant header that raw runs have, so the gain is not the verifier's alone. "
        "No log holds the raw text that the model read: it is in the released prompt builders of raw runs and of runs with a verifier; "
        "the query lists the runs of this store on either side.",
        sql="SELECT coalesce(verifier, 'none') <> 'none' AS with_verifier, count(*) AS runs, sum(games)::BIGINT AS games "
        "FROM einstein_runs GROUP BY 1 ORDER BY 1",
    ),
)
