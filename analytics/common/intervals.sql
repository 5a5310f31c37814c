-- intervals: the 95 % intervals of every report, as scalar macros.
-- Macros: wilson_low(k, n), wilson_high(k, n), t_critical(df), clustered_sem(...), clustered_factor(...), score_end(...), clustered_low(...),
-- clustered_high(...), mean_low(...), mean_high(...).
--   wilson_low(k, n)   0..1    lower end of the Wilson score interval of k successes in n trials (Wilson 1927); null if n is 0
--   wilson_high(k, n)  0..1    upper end
--   t_critical(df)     number  two-sided 95 % point of Student's t, also between whole degrees of freedom; null below 1. The polynomial of degree
--                              12 in 1/df that equals its logarithm at Chebyshev's points of 0 to 1 (Powell 1981, Approximation Theory and
--                              Methods, chapter 4); right to 1e-7
--   clustered_low(k, n, games, kk, kn, nn)   0..1  lower end of the interval of k / n where the n come in games, such as turns: from the sums over
--                              games of its k squared, its k times its n, and its n squared; null below two games
--   clustered_high(k, n, games, kk, kn, nn)  0..1  upper end
--   mean_low(k, n, games, kk, kn, nn)   0..1  the same of a mean of numbers between 0 and 1, such as scores of games that come by task, whose
--                              variance may be less than that of a yes or no
--   mean_high(k, n, games, kk, kn, nn)  0..1  upper end
--   clustered_sem(k, n, games, kk, kn, nn)  number  standard error of k / n over games (Liang and Zeger 1986, with G/(G-1)); of games with one
--                              trial each it is sample standard deviation / sqrt(n); null below two games
--   score_end(share, f, side)  0..1  lower (side -1) and upper (1) end of all p with (share - p)^2 <= f p (1 - p)
--   clustered_factor(k, n, games, kk, kn, nn, least)  number  f of both: t squared over the number of independent trials that carry as much, at
--                              least `least`. The variance is that between games, Student's t that of as many games of equal size as weigh
--                              as much (Kish 1965), less one; as in analytics/statistics/cluster_intervals.py, where its constants are explained
-- Reads: nothing.
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

create or replace macro clustered_factor(k, n, games, kk, kn, nn, least) as
    case when games > 1 and n > 0 then
        (1 - 1 / (1 + (k * (n - k) / n ** 2 * games / 0.3) ** 2)) * greatest(
            t_critical(greatest(n ** 2 / nn - 1, 1.0)) ** 2 * clustered_sem(k, n, games, kk, kn, nn) ** 2
            / greatest(k * (n - k) / n ** 2, 1 / n),
            least
        )
        + 3.841458820694124 * (1 + (nn / n - 1) * 0.3) / n / (1 + (k * (n - k) / n ** 2 * games / 0.3) ** 2)
    end;

-- the ends of all p with (share - p)^2 <= f p (1 - p)
create or replace macro score_end(share, f, side) as
    least(greatest((share + f / 2 + side * sqrt(greatest(f * (share * (1 - share) + f / 4), 0))) / (1 + f), 0.0), 1.0);

create or replace macro clustered_low(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then score_end(k / n, clustered_factor(k, n, games, kk, kn, nn, 3.841458820694124 / n), -1) end;

create or replace macro clustered_high(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then score_end(k / n, clustered_factor(k, n, games, kk, kn, nn, 3.841458820694124 / n), 1) end;

create or replace macro mean_low(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then score_end(k / n, clustered_factor(k, n, games, kk, kn, nn, 0), -1) end;

create or replace macro mean_high(k, n, games, kk, kn, nn) as
    case when games > 1 and n > 0 then score_end(k / n, clustered_factor(k, n, games, kk, kn, nn, 0), 1) end;
