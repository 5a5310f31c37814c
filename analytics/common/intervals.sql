-- intervals: the 95 % intervals of every report, as scalar macros.
-- Macros: wilson_low(k, n), wilson_high(k, n), t_critical(df), clustered_sem(...), hidden_share(...), seen_factor(...),
-- assumed_factor(...), clustered_factor(...), score_end(...), clustered_low(...), clustered_high(...), cluster_low(k, n),
-- cluster_high(k, n), cluster_sem(k, n); and is_wrong(common, category): whether a category means that something failed.
create or replace macro is_wrong(common, category) as
    not coalesce(common = 'none', category in ('correct', 'no_error', 'none_of_these', 'accepted', 'right'));

create or replace macro wilson_low(k, n) as
    case when n > 0 then greatest(0.0, (k + 1.920729410347062 - 1.959963984540054 * sqrt(k * (n - k) / n + 0.960364705173531))
        / (n + 3.841458820694124)) end;

create or replace macro wilson_high(k, n) as
    case when n > 0 then least(1.0, (k + 1.920729410347062 + 1.959963984540054 * sqrt(k * (n - k) / n + 0.960364705173531))
        / (n + 3.841458820694124)) end;

create or replace macro t_critical(df) as
    case when df >= 1 then exp(list_reduce(
        [
            0.0419882662618, -0.259548528434, 0.678427790674, -0.956600475795, 0.776080467431, -0.406217024195, 0.231653289251,
            -0.0703059857884, -0.236880295174, 0.152644370529, 0.707557241756, 1.21036522434, 0.672926096294
        ],
        lambda sum, coefficient: sum / df + coefficient
    )) end;

create or replace macro clustered_sem(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then
        sqrt(greatest((kk - 2 * k * kn / n + k * k * nn / n ** 2) / n ** 2 * games / (games - 1), 0))
    end;

-- how much of the variance is assumed where few games show the rarer answer, 0 to 1
create or replace macro hidden_share(k, n, games, sem) as
    1 / (1 + (k * (n - k) / n ** 2 * games / 0.35) ** case when sem > 1e-6 then 4 else 2 end);

create or replace macro seen_factor(k, n, games, kk, kn, nn) as
    (1 - hidden_share(k, n, games, 1)) * clustered_sem(k, n, games, kk, kn, nn) ** 2 * (games - 1) / games / (1 - nn / n ** 2)
    / greatest(k * (n - k) / n ** 2, 1 / n);

create or replace macro assumed_factor(k, n, games, kk, kn, nn) as
    hidden_share(k, n, games, clustered_sem(k, n, games, kk, kn, nn)) * (1 + (nn / n - 1) * 0.3) / n;

-- the lambda names an expression that is used several times
create or replace macro clustered_factor(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then list_transform(
        [{'seen': seen_factor(k, n, games, kk, kn, nn), 'assumed': assumed_factor(k, n, games, kk, kn, nn)}],
        lambda part: t_critical(greatest(n ** 2 / nn - 1, 1.0) * ((part.seen + part.assumed) / greatest(part.seen, 1e-12)) ** 2) ** 2
            * (part.seen + part.assumed)
    )[1] end;

-- the ends of all p with (share - p)^2 <= f p (1 - p)
create or replace macro score_end(share, f, side) as list_transform(
    [f], lambda f: least(greatest((share + f / 2 + side * sqrt(greatest(f * (share * (1 - share) + f / 4), 0))) / (1 + f), 0.0), 1.0)
)[1];

create or replace macro clustered_low(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then score_end(k / n, clustered_factor(k, n, games, kk, kn, nn), -1) end;

create or replace macro clustered_high(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then score_end(k / n, clustered_factor(k, n, games, kk, kn, nn), 1) end;

create or replace macro cluster_low(k, n) as
    clustered_low(sum(k), sum(n), count(*) filter (n > 0), sum(k * k), sum(k * n), sum(n * n));

create or replace macro cluster_high(k, n) as
    clustered_high(sum(k), sum(n), count(*) filter (n > 0), sum(k * k), sum(k * n), sum(n * n));

create or replace macro cluster_sem(k, n) as
    clustered_sem(sum(k), sum(n), count(*) filter (n > 0), sum(k * k), sum(k * n), sum(n * n));
