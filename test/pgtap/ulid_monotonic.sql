-- ULIDs: within a millisecond the 80 bits behind the time step by one; each millisecond
-- starts elsewhere; a clock that goes back keeps the old millisecond.
BEGIN;
SELECT plan(9);

CREATE FUNCTION pg_temp.tail(id uuid) RETURNS numeric LANGUAGE sql AS $$
SELECT ('x' || substr(hex, 13, 8))::bit(32)::bigint * 2 ^ 48::numeric +
       ('x' || substr(hex, 21, 12))::bit(48)::bigint
FROM (SELECT replace(id::text, '-', '') AS hex) s
$$;
SELECT is(pg_temp.tail('ffffffff-ffff-0000-0000-000000000102'), 258::numeric, 'tails are read right');
SELECT is(pg_temp.tail('00000000-0000-ffff-ffff-ffffffffffff'), 2 ^ 80::numeric - 1, '... all of them');

CREATE TEMP TABLE ids AS SELECT n, ulid_next() AS id FROM generate_series(1, 200000) AS n;
CREATE TEMP TABLE steps AS
SELECT ulid_time(id) AS at, ulid_time(id) - lag(ulid_time(id)) OVER w AS later,
       pg_temp.tail(id) - pg_temp.tail(lag(id) OVER w) AS step, id > lag(id) OVER w AS rises
FROM ids WINDOW w AS (ORDER BY n);
SELECT ok(bool_and(rises), 'ids rise') FROM steps;
SELECT is(count(*), 0::bigint, 'within a millisecond by one') FROM steps WHERE later = '0' AND step <> 1;
SELECT cmp_ok(count(*) FILTER (WHERE later = '0'), '>', 100000::bigint, '... which was seen') FROM steps;
-- A start that could be told from the last tail would be near it.
SELECT is(count(*), 0::bigint, 'another millisecond starts far from where the last one ended')
FROM steps WHERE later > '0' AND abs(step) < 2 ^ 50::numeric;

-- An hour back: one millisecond holds all, up to its 2^20 steps.
SELECT idgen_shift_clock('-1 hour');
CREATE TEMP TABLE frozen AS SELECT n, ulid_next() AS id FROM generate_series(1, 300000) AS n;
SELECT is(max(pg_temp.tail(id)) - min(pg_temp.tail(id)), 299999::numeric, 'a clock that went back keeps the millisecond')
FROM frozen;
SELECT ok((SELECT id FROM frozen WHERE n = 1) > (SELECT id FROM ids WHERE n = 200000), '... and the order');
CREATE TEMP TABLE moved AS SELECT n, ulid_next() AS id FROM generate_series(1, 1100000) AS n;
SELECT is(count(*) FILTER (WHERE id <= previous)::text || ' ' || (max(ulid_time(id)) - (SELECT min(ulid_time(id)) FROM frozen)), '0 00:00:00.001',
          'after 2^20 steps the time moves on by 1 ms, and ids rise')
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM moved) s;
SELECT idgen_shift_clock('0');

SELECT * FROM finish();
ROLLBACK;
