-- A million ids in a loop rise strictly, whatever the clock's resolution; eight
-- sessions at once are in test/tap/uuid_v7_monotonic_same_ms.pl.
BEGIN;
SELECT plan(5);

CREATE TEMP TABLE overflows AS SELECT counter_overflows AS n FROM uuidv7_status;
CREATE TEMP TABLE ids AS
SELECT n, uuidv7_mono() AS id, uuidv7_at(clock_timestamp()) AS unordered
FROM generate_series(1, 1000000) AS n;

SELECT is(count(*) FILTER (WHERE id <= previous), 0::bigint, 'none is not increasing')
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM ids) s;
SELECT isnt(count(*) FILTER (WHERE unordered <= previous), 0::bigint,
            'negative: the same check finds ids that are not in order')
FROM (SELECT unordered, lag(unordered) OVER (ORDER BY n) AS previous
      FROM ids) s;
SELECT is(count(DISTINCT id), 1000000::bigint, 'all are distinct') FROM ids;
SELECT cmp_ok(max(n), '>', 1::bigint, 'many share a millisecond')
FROM (SELECT count(*) AS n FROM ids GROUP BY uuidv7_time(id)) s;
SELECT cmp_ok(max(uuidv7_time(id)), '<=', clock_timestamp(), 'time is not ahead of the clock')
FROM ids;

SELECT diag('most ids in one ms: ' || max(n))
FROM (SELECT count(*) AS n FROM ids GROUP BY uuidv7_time(id)) s;
SELECT diag('overflows of the counter: ' || counter_overflows - n)
FROM uuidv7_status, overflows;

SELECT * FROM finish();
ROLLBACK;
