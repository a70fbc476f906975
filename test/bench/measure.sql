-- measure.sql: samples, and how they are summed up and shown.

create table sample (
    n bigint generated always as identity,
    test text not null,
    sessions int not null,
    name text not null,
    ms float8 not null
);

create view result as
select test, sessions, name, min(n) as place, min(ms), max(ms),
    percentile_cont(0.5) within group (order by ms) as median
from sample
group by test, sessions, name;

create function median(test text, sessions int, name text) returns float8
language sql stable as $$
    select r.median from result r where (r.test, r.sessions, r.name) = ($1, $2, $3)
$$;

-- A dash where there is nothing to divide by. In a short run what is left net of
-- the empty call can be less than nothing.
create function ratio(a float8, b float8) returns text
language sql immutable as $$
    select coalesce(to_char(case when b > 0 then a / b end, 'FM99990.00') || 'x', '-')
$$;

-- One line on a goal: that a is at least `factor` times b.
create function goal(what text, factor numeric, a float8, b float8) returns text
language sql immutable as $$
    select format('- goal: %s: %s', what,
        case
            when a is null or b is null then 'nothing to compare with here'
            when b <= 0 then 'run too short to tell'
            when a >= factor * b then ratio(a, b) || ' - met'
            else ratio(a, b) || ' - not met'
        end)
$$;
