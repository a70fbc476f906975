-- Version and variant are right in every id, and no id comes twice.
BEGIN;
SELECT plan(5);

CREATE TEMP TABLE ids AS
SELECT gen_random_uuid() AS v4, uuidv7_mono() AS v7
FROM generate_series(1, 100000);

SELECT is(count(*) FILTER (WHERE v4::text !~ '^.{14}4.{4}[89ab]'), 0::bigint,
          'v4: version and variant are right in all')
FROM ids;
SELECT is(count(*) FILTER (WHERE v7::text !~ '^.{14}7.{4}[89ab]'), 0::bigint,
          'v7: version and variant are right in all')
FROM ids;
SELECT is(count(uuidv7_time(v7)), 100000::bigint, 'v7: each has a time')
FROM ids;
SELECT is(count(uuidv7_time(v4)), 0::bigint, 'v4: none has a time')
FROM ids;
SELECT is(count(DISTINCT id), 200000::bigint, 'all are distinct')
FROM (SELECT v4 AS id FROM ids UNION ALL SELECT v7 FROM ids) s;

SELECT * FROM finish();
ROLLBACK;
