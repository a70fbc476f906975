-- The uuid type sorts v7 in the order in which they were issued, v4 not.
BEGIN;
SELECT plan(3);

CREATE TEMP TABLE ids AS
SELECT n, uuidv7_mono() AS v7, gen_random_uuid() AS v4
FROM generate_series(1, 20000) AS n;

SELECT is(count(*) FILTER (WHERE n <> place), 0::bigint, 'v7 sort in order of generation')
FROM (SELECT n, row_number() OVER (ORDER BY v7) AS place FROM ids) s;
SELECT isnt(count(*) FILTER (WHERE n <> place), 0::bigint, 'v4 do not')
FROM (SELECT n, row_number() OVER (ORDER BY v4) AS place FROM ids) s;
SELECT is(count(*) FILTER (WHERE n <> place), 0::bigint, 'v7 as text sort so too')
FROM (SELECT n, row_number() OVER (ORDER BY v7::text COLLATE "C") AS place
      FROM ids) s;

SELECT * FROM finish();
ROLLBACK;
