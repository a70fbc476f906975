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

-- In a rate test, ms is the time per transaction over all sessions together.
create view rate as
select test, sessions, name, place, 1e3 / median as median, 1e3 / max as min, 1e3 / min as max
from result;

-- A dash where there is nothing to divide by. In a short run what is left net of
-- the empty call can be less than nothing.
create function ratio(a float8, b float8) returns text
language sql immutable as $$
    select coalesce(to_char(case when b > 0 then a / b end, 'FM99990.00') || 'x', '-')
$$;

-- One line on a goal, with a as so many times b.
create function goal(what text, a float8, b float8, met boolean) returns text
language sql immutable as $$
    select format('- goal: %s: %s', what,
        case
            when a is null or b is null then 'nothing to compare with here'
            when a <= 0 or b <= 0 then 'run too short, or machine too busy, to tell'
            when met then ratio(a, b) || ' - met'
            else ratio(a, b) || ' - not met'
        end)
$$;

create function goal_at_least(what text, factor numeric, a float8, b float8) returns text
language sql immutable as $$
    select goal(what, a, b, a >= factor * b)
$$;

create function goal_at_most(what text, factor numeric, a float8, b float8) returns text
language sql immutable as $$
    select goal(what, a, b, a <= factor * b)
$$;

-- A function of PostgreSQL that does next to nothing, called as one of an
-- extension is: by the address found when the query starts.
create function no_op() returns int
language internal volatile as 'pg_backend_pid';
