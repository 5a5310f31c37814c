"""How far judges can be relied on: agreement with people, corrected rates, drift, probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from analytics.agreement.pairs import ALL
from analytics.agreement.report import agreement_report
from analytics.drift import drift_report
from analytics.estimates.replacement import OfJudge, of_one_judge
from analytics.judging.probes import probe_report, self_preference_report
from dashboards.figures import SERIES, Axis, look, plain, styled
from dashboards.grid import Grid, GridColumn, TableRows, columns_of, fold
from dashboards.judging.scores import WHOLE_STORE, Section, choices, chosen, command_about, dots, nothing_yet, words_of
from dashboards.parts import Part, card, figure, html, note
from dashboards.reader import Reader, computed, kept, looks_of_teams
from schemas.common import wording

if TYPE_CHECKING:
    import polars as pl

    from schemas.store.store import Store

_KINDS = {
    "judge_people": "Judge and people",
    "people": "People among themselves",
    "judge_truth": "Judge and planted truth",
    "judge_engine": "Judge and engine",
    "judge_judge": "Judge and judge",
    "judge_repeats": "Judge asked again",
    "people_truth": "People and planted truth",
}
_MEASURES = {"kappa": "Kappa", "ac1": "Gwet's AC1", "alpha_nominal": "Krippendorff's alpha", "agreement": "Equal answers"}
_LOWEST = {"agreement": 0}


def _agreement_section(read: Reader, rubric: str) -> Part:
    """`?kind=` who is compared, `?measure=` what is drawn, `?question=` whose confusion matrix is shown."""
    import polars as pl

    kinds, kind, rows = _compared(read, rubric)
    if not kinds:
        return nothing_yet(
            "No one else has answered this rubric's questions about the same units. Label some on the page Labelling, import labels, "
            "or ask a second judge:",
            "cotrace labels import labels.csv",
            f"cotrace judge --rubric {rubric} --model openai/gpt-4o-mini --repeats 2",
        )
    address = read.address
    measure = chosen(address.one("measure"), list(_MEASURES))
    links = [address.to(question=row["question"], raters=row["raters"]) for row in rows.iter_rows(named=True)]
    drawn = dots(
        rows.select(
            at="question",
            series="raters",
            value=measure,
            low=f"{measure}_low",
            high=f"{measure}_high",
            n="units",
            link=pl.Series(links, dtype=pl.String),
        ),
        Axis(title=_MEASURES[measure].lower(), low=_LOWEST.get(measure, min(0.0, _least(rows[f"{measure}_low"])))),
    )
    return html.Div(
        [
            choices(address, "Compared", "kind", kinds, kind),
            choices(address, "Drawn", "measure", _MEASURES, measure),
            card(
                _KINDS[kind],
                figure("judge-agreement", drawn, label=f"{_MEASURES[measure]} by question"),
                fold(read, NUMBERS, rubric, is_open=True),
                hint=f"{_HINTS[measure]} {WHOLE_STORE}",
            ),
            _confusion_card(read, rubric),
        ]
    )


def _compared(read: Reader, rubric: str) -> tuple[dict[str, str], str, pl.DataFrame]:
    """The kinds of comparison there are, the chosen one and its rows."""
    import polars as pl

    report = computed(read.store, agreement_report, rubric=rubric).filter(pl.col("rubric") == rubric)
    found = report["kind"].unique().to_list()
    kinds = {kind: text for kind, text in _KINDS.items() if kind in found}
    kind = chosen(read.address.one("kind"), list(kinds) or [""])
    rows = report.filter(pl.col("kind") == kind).with_columns(
        question=pl.when(pl.col("question") == ALL).then(pl.lit("all")).otherwise(pl.col("question")),
        raters=_raters(kind),
    )
    return kinds, kind, rows


_HINTS = {
    "kappa": "Agreement beyond chance: 1 is full, 0 what chance gives. Low where one answer is common, even for a good judge.",
    "ac1": "Agreement beyond chance that is not upset by a common answer.",
    "alpha_nominal": "Agreement beyond chance of any number of raters; below 0.67 nothing should be built on it.",
    "agreement": "Share of equal answers; high by chance alone where one answer is common.",
}


def _raters(kind: str) -> Any:
    import polars as pl

    if kind in {"people", "judge_repeats"}:
        return pl.col("rater_a")
    return pl.when(pl.lit(kind == "judge_judge")).then(pl.concat_str("rater_b", pl.lit(" and "), "rater_a")).otherwise(pl.col("rater_b"))


def _least(values: pl.Series) -> float:
    found = values.min()
    return float(found) if isinstance(found, float) else 0.0


def _numbers(read: Reader, rubric: str) -> TableRows:
    _, _, rows = _compared(read, rubric)
    return TableRows(
        frame=rows.with_columns(words_of(rows, r"[^;]* gives? the same answer in [^;]*; ")),
        source=command_about("agreement", rubric),
        columns=columns_of("reliability", "numbers"),
        link=lambda row: read.address.to(question=row["question"], raters=row["raters"]),
    )


def _chosen_row(read: Reader, rubric: str) -> dict[str, Any] | None:
    question, raters = read.address.one("question"), read.address.one("raters")
    _, _, rows = _compared(read, rubric)
    return next((row for row in rows.iter_rows(named=True) if row["question"] == question and raters in {"", row["raters"]}), None)


def _confusion_card(read: Reader, rubric: str) -> Part:
    """Every pair of answers, counted, of the question that was clicked."""
    row = _chosen_row(read, rubric)
    if row is None:
        return None
    hint = "Pairs of answers, a row for each answer of the reference."
    return card(f"{row['question']}: {row['rater_b']} said", fold(read, CONFUSION, rubric, is_open=True), hint=hint)


def _confusion(read: Reader, rubric: str) -> TableRows:
    import polars as pl

    row = _chosen_row(read, rubric)
    counts: dict[str, dict[str, int]] = orjson.loads(row["confusion"]) if row else {}
    answers = sorted({*counts, *(answer for said in counts.values() for answer in said)})
    matrix = pl.DataFrame([{"said": said} | {f"n_{answer}": counts.get(said, {}).get(answer, 0) for answer in answers} for said in answers])
    heads = {"said": GridColumn(heading=f"{row['rater_a']} said" if row else "")}
    return TableRows(
        frame=matrix,
        source=command_about("confusion", rubric),
        columns=heads | {f"n_{answer}": GridColumn(heading=answer, kind="count") for answer in answers},
    )


NUMBERS: Final = Grid("agreement", _numbers, "In numbers")
CONFUSION: Final = Grid("confusion", _confusion, "Pairs of answers")
AGREEMENT: Final = Section("agreement", "Agreement", _agreement_section, (NUMBERS, CONFUSION))


_OUTSIDE = "games outside the store"


def _of_labels(read: Reader, rubric: str) -> OfJudge:
    """The reports of corrected rates and of risk and coverage, of the chosen judge."""
    judge = read.address.one("judge")
    return kept(
        read.store.path,
        ("corrected and selective", rubric, judge),
        lambda: of_one_judge(read.store, rubric=rubric, judge=judge),
        size_of=lambda found: int(found.rates.estimated_size() + found.thresholds.estimated_size()),
    )


def _corrected_section(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`; the filter of models counts here."""
    found = _of_labels(read, rubric)
    if not found.judges:
        return nothing_yet("No scored answer on this rubric.", f"cotrace judge --rubric {rubric} --judge engine")
    judge = chosen(read.address.one("judge"), found.judges)
    chooser = choices(read.address, "Judge", "judge", {name: name for name in found.judges}, judge)
    rows = _rows_of(read, rubric)
    if rows.is_empty():
        return html.Div([chooser, note("No verdict under these filters.")])
    references = ", ".join(sorted(rows["reference"].unique()))
    return html.Div(
        [
            chooser,
            card(
                "Judge and corrected rate",
                figure(
                    "judge-corrected",
                    dots(_drawn(rows), Axis(title="rate of yes", is_share=True), looks=looks_of_teams(read)),
                    label="rates by question and model",
                ),
                fold(read, RATES, rubric, is_open=True),
                hint=f"Rings: what the judge says. Labels: {references}, taken as right. Dots, corrected: the judge on everything, "
                "corrected by the labels of this model (prediction-powered). By error rates: Rogan and Gladen, with the labels of "
                "all models; it holds if the judge errs alike for all. Where labelled units differ from the others, or the judge "
                "leaves units unanswered, nothing is corrected: bounds count what is unknown once as no and once as yes. "
                f"At most {len(SERIES)} teams are drawn, those with the most units.",
            ),
            *_risk_card(read, rubric, judge),
        ]
    )


def _risk_card(read: Reader, rubric: str, judge: str) -> list[Part]:
    """The risk-coverage curve of the judge, of each question with labels; nothing without."""
    import plotly.graph_objects as go

    rows = _of_labels(read, rubric).thresholds.sort("question", "coverage")
    if rows.is_empty():
        return []
    if rows["question"].is_unique().all():
        return [
            card("Risk and coverage", note(f"{judge} does not state how sure it is: no probabilities of tokens, no repeats that differ."))
        ]
    drawn = go.Figure()
    for place, ((question,), own) in enumerate(rows.group_by("question", maintain_order=True)):
        color, symbol = look(place)
        drawn.add_scatter(
            x=own["coverage"].to_list(),
            y=own["risk"].to_list(),
            mode="lines+markers",
            name=f"{plain(question)}, {wording.count(max(own['labels'].to_list()))} labels",
            line={"color": color, "width": 2},
            marker={"size": 6, "symbol": symbol, "color": color},
            hovertemplate="of %{x:.0%} answered %{y:.1%} wrong<extra>%{fullData.name}</extra>",
        )
    drawn.update_xaxes(title="share of units that it answers", tickformat=".0%", range=[-0.02, 1.02])
    most = max(0.1, *(risk for risk in rows["risk"] if risk is not None))
    drawn.update_yaxes(title="wrong among these", tickformat=".0%", range=[-0.06 * most, 1.06 * most])  # a line at 0 lies on no axis
    return [
        card(
            "Risk and coverage",
            figure("judge-risk", styled(drawn, height=340), label="share of wrong answers by share of units answered"),
            hint="If the judge answers only what it is most sure of, and people the rest. Sureness: the probability of its tokens, "
            "calibrated by labels, else repeats and other judges. cotrace report selective has the thresholds, intervals "
            "and what holds in expectation.",
        )
    ]


def _rows_of(read: Reader, rubric: str) -> pl.DataFrame:
    """The report of the chosen judge, and of the models in view."""
    import polars as pl

    rows, models = _of_labels(read, rubric).rates, read.address.all("model")
    rows = rows.filter(pl.col("model").is_in(models)) if models else rows
    return rows.with_columns(pl.col("model").fill_null(_OUTSIDE)).sort("question", "model")


def _rates(read: Reader, rubric: str) -> TableRows:
    rows = _rows_of(read, rubric)
    return TableRows(
        frame=rows.with_columns(words_of(rows, r".*?, corrected [^)]*\): ", r"[^;]*; ")),
        source=command_about("corrected-rates", rubric),
        columns=columns_of("reliability", "rates"),
    )


def _drawn(rows: pl.DataFrame) -> pl.DataFrame:
    """A dot for what the judge says, which has no interval, and one for the corrected rate, of each model with the most units."""
    import polars as pl

    most = rows.group_by("model").agg(pl.col("units").sum()).sort("units", "model", descending=[True, False]).head(len(SERIES))
    rows = rows.join(most.select("model"), on="model", how="semi", maintain_order="left")
    none = pl.lit(None, pl.Float64)
    about = {"at": "question", "n": "units"}
    mended = rows.select(**about, series="model", value="rate", low="rate_low", high="rate_high", hollow=False)
    uncorrected = pl.concat_str("model", pl.lit(", judge"))
    said = rows.select(**about, series=uncorrected, value="judge_rate", low=none, high=none, hollow=True)
    models = pl.concat([rows.select("model"), rows.select("model")])
    return pl.concat([mended, said]).with_columns(models).sort("at", "model", "hollow", maintain_order=True)


RATES: Final = Grid("corrected-rates", _rates, "In numbers")
CORRECTED: Final = Section("corrected", "Corrected rates", _corrected_section, (RATES,))


_COMPARED = {"again": "Same units again", "new": "New units", "within": "Halves of a job"}
_DRIFT_HINTS = {
    "again": "The same units, asked again by a later job: only the judge can differ.",
    "new": "Units of a later job against those of earlier ones, of the same models: the games differ, too.",
    "within": "The second half of a job against its first, by the order in which the answers came: the games differ, too.",
}
_RATES = """
SELECT judge || coalesce(' (' || variant || ')', '') AS judge, question, answer, answered, rate, rate_low, rate_high,
    strftime(started_at, '%Y-%m-%d %H:%M:%S') AS at
FROM answer_rates WHERE rubric = $rubric AND starts_with(judge, 'llm:') ORDER BY judge, started_at, question, answer
"""


def _drift_section(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`; `?answer=` is drawn, `?compared=` is tested."""
    import polars as pl

    address = read.address
    rates = read.rows(_RATES, {"rubric": rubric})
    if rates.is_empty():
        return nothing_yet(
            "No model has judged this rubric. Ask the same units again later, and drift shows:",
            f"cotrace judge --rubric {rubric} --model openai/gpt-4o-mini --repeats 1",
            f"cotrace judge --rubric {rubric} --model openai/gpt-4o-mini --repeats 2    # weeks later: asks each unit once more",
        )
    judges = rates["judge"].unique(maintain_order=True).to_list()
    judge = chosen(address.one("judge"), judges)
    rates = rates.filter(pl.col("judge") == judge)
    answers = sorted(rates["answer"].unique(), key=lambda answer: (answer != "yes", answer))
    answer = chosen(address.one("answer"), answers)
    said = rates.filter(pl.col("answer") == answer)
    shown = said.select("at", series="question", value="rate", low="rate_low", high="rate_high", n="answered")
    drawn = dots(shown, Axis(title=f"share of {answer}", is_share=True), n_of="answers")
    return html.Div(
        [
            choices(address, "Judge", "judge", {name: name for name in judges}, judge),
            choices(address, "Answer", "answer", {name: name for name in answers}, answer),
            card(
                "Answers by job",
                figure("judge-drift", drawn, label="share of answers by job"),
                hint=f"With 95 % intervals by game. {WHOLE_STORE}",
            ),
            _tests_card(read, rubric),
        ]
    )


def _tested(read: Reader, rubric: str) -> tuple[dict[str, str], str, pl.DataFrame]:
    """The kinds of comparison there are, the chosen one and its rows, the smallest p first."""
    import polars as pl

    rates = read.rows(_RATES, {"rubric": rubric})
    judge = chosen(read.address.one("judge"), rates["judge"].unique(maintain_order=True).to_list() or [""])
    tested = computed(read.store, drift_report, rubric=rubric).filter(pl.col("judge") == judge)
    found = tested["compared"].unique().to_list()
    kinds = {kind: text for kind, text in _COMPARED.items() if kind in found}
    kind = chosen(read.address.one("compared"), list(kinds) or [""])
    rows = tested.filter(pl.col("compared") == kind).sort(pl.col("p_corrected"), "question", nulls_last=True, maintain_order=True)
    return kinds, kind, rows


def _tests_card(read: Reader, rubric: str) -> Part:
    kinds, kind, _ = _tested(read, rubric)
    if not kinds:
        return nothing_yet("There is nothing to compare yet: too few answers, or none of the same wording and temperature.")
    return html.Div(
        [
            choices(read.address, "Compared", "compared", kinds, kind),
            card("Has it drifted?", fold(read, TESTS, rubric, is_open=True), hint=_DRIFT_HINTS[kind]),
        ]
    )


def _tests(read: Reader, rubric: str) -> TableRows:
    import polars as pl

    _, kind, rows = _tested(read, rubric)
    columns = columns_of("reliability", "tests")
    if kind != "again":
        del columns["agreement"]
    return TableRows(
        frame=rows.with_columns(words_of(rows, r"[^;]*; "), at=pl.col("later_at").dt.strftime("%Y-%m-%d %H:%M")),
        source=command_about("drift", rubric),
        columns=columns,
    )


TESTS: Final = Grid("drift", _tests, "Comparisons")
DRIFT: Final = Section("drift", "Drift", _drift_section, (TESTS,))


_EXPECTED = {
    "same": ("Should stay", "answers that change", "Share of answers that change though nothing that matters does: 0 is best."),
    "changed": ("Should change", "defects found", "Share of planted defects at which a yes turns to no: 1 is best."),
}


def _probes_section(read: Reader, rubric: str) -> Part:
    """Of one judge, `?judge=`."""
    judges, judge, told, own = _probed(read, rubric)
    if not judges:
        return nothing_yet(
            "This rubric has not been probed. Units perturbed by rule show whether a judge is swayed, and whether it sees planted defects:",
            f"cotrace probe {rubric} --kind list",
            f"cotrace probe {rubric} --kind polite --kind names --judge engine",
        )
    expected = [name for name in _EXPECTED if name in told["expects"].to_list()]
    return html.Div(
        [
            choices(read.address, "Judge", "judge", {name: name for name in judges}, judge),
            html.P(WHOLE_STORE, className="lead"),
            *(_probe_card(read, told.filter(told["expects"] == name), rubric, name) for name in expected),
            _own_card(read, rubric) if len(own) else None,
        ]
    )


def _probed(read: Reader, rubric: str) -> tuple[list[str], str, pl.DataFrame, pl.DataFrame]:
    """The judges that were probed, the chosen one, what its probes show, and its own model against others."""
    probed = computed(read.store, _probes, rubric=rubric)
    own = computed(read.store, self_preference_report, rubric=rubric)
    judges = [*dict.fromkeys([*probed["judge"], *own["judge"]])]
    judge = chosen(read.address.one("judge"), judges or [""])
    return judges, judge, probed.filter(probed["judge"] == judge), own.filter(own["judge"] == judge)


def _probes(store: Store, *, rubric: str) -> pl.DataFrame:
    import polars as pl

    return probe_report(store).filter(pl.col("rubric") == rubric)


def _probe_card(read: Reader, rows: pl.DataFrame, rubric: str, expected: str) -> Part:
    import polars as pl

    title, axis, hint = _EXPECTED[expected]
    drawn = rows.select("low", "high", at="question", series=pl.col("probe").str.replace_all("_", " "), value="rate", n="pairs")
    return card(
        title,
        figure(f"judge-probes-{expected}", dots(drawn, Axis(title=axis, is_share=True), n_of="pairs"), label=axis),
        fold(read, PROBES, f"{expected}/{rubric}", is_open=True),
        hint=hint,
    )


def _probe_rows(read: Reader, part: str) -> TableRows:
    expected, _, rubric = part.partition("/")
    _, _, told, _ = _probed(read, rubric)
    rows = told.filter(told["expects"] == expected)
    in_columns = r"changes [^,;]* though nothing that matters changed[,;] ", r"finds [^:]* of the planted defects[^:]*: "
    return TableRows(
        frame=rows.with_columns(words_of(rows, *in_columns)),
        source=command_about("probes", rubric),
        columns={
            "question": GridColumn(heading="Question", kind="name"),
            "probe": GridColumn(heading="Probe", kind="name"),
            "pairs": GridColumn(heading="Pairs", kind="count"),
            "games": GridColumn(heading="Games", kind="count"),
            "unanswered": GridColumn(heading="Unanswered", kind="count"),
            "rate": GridColumn(heading="Changed (95 %)" if expected == "same" else "Found (95 %)", kind="share", low="low", high="high"),
            "repeats_differ": GridColumn(heading="By chance", kind="share"),
            "shift": GridColumn(heading="Shift", kind="score"),
            "words": GridColumn(heading="What to make of it", kind="words"),
        },
    )


def _own_card(read: Reader, rubric: str) -> Part:
    return card(
        "Its own model against others",
        fold(read, OWN, rubric, is_open=True),
        hint="A higher score may be earned. Units with the same label say whether the judge is kinder to its own model than to others.",
    )


def _own_rows(read: Reader, rubric: str) -> TableRows:
    _, _, _, own = _probed(read, rubric)
    return TableRows(
        frame=own.with_columns(words_of(own, r".*; ")),
        source=command_about("self-preference", rubric),
        columns=columns_of("reliability", "own"),
    )


PROBES: Final = Grid("probes", _probe_rows, "In numbers")
OWN: Final = Grid("self-preference", _own_rows, "In numbers")
PROBING: Final = Section("probes", "Probes", _probes_section, (PROBES, OWN))
