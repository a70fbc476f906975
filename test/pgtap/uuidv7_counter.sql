-- The counter: it starts at a random value below 2^19 in each new millisecond, and
-- when it is used up the time moves on by 1 ms and ids rise on.
BEGIN;
SELECT plan(6);

-- The 12 bits of rand_a and the 8 that follow the variant.
CREATE FUNCTION pg_temp.counter(id uuid) RETURNS int LANGUAGE sql AS $$
SELECT ((('x' || substr(hex, 14, 3))::bit(12) ||
         substring(('x' || substr(hex, 17, 3))::bit(12) FROM 3 FOR 8))::bit(20))::int
FROM (SELECT replace(id::text, '-', '') AS hex) s
$$;

-- Each in a millisecond of its own.
CREATE TEMP TABLE starts (id uuid);
DO $$
BEGIN
    FOR n IN 1..64 LOOP
        PERFORM idgen_shift_clock(n * 10 * interval '1 ms');
        INSERT INTO starts VALUES (uuidv7_mono());
    END LOOP;
    PERFORM idgen_shift_clock('0');
END $$;
SELECT is(count(DISTINCT uuidv7_time(id)), 64::bigint, '64 milliseconds') FROM starts;
SELECT cmp_ok(max(pg_temp.counter(id)), '<', 1 << 19, 'no start has the top bit set')
FROM starts;
SELECT cmp_ok(count(DISTINCT pg_temp.counter(id)), '>', 60::bigint, 'starts differ')
FROM starts;

-- Frozen time, and more ids than the counter has values.
SELECT idgen_shift_clock('-1 hour');
CREATE TEMP TABLE before AS SELECT counter_overflows, last_time FROM uuidv7_status;
CREATE TEMP TABLE ids AS
SELECT n, uuidv7_mono() AS id FROM generate_series(1, 1100000) AS n;
SELECT is(count(*) FILTER (WHERE id <= previous), 0::bigint, 'ids rise over the overflow')
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM ids) s;
SELECT ok(s.counter_overflows - before.counter_overflows BETWEEN 1 AND 3, 'the overflows are counted')
FROM uuidv7_status s, before;
SELECT is(s.last_time - before.last_time,
          (s.counter_overflows - before.counter_overflows) * interval '1 ms',
          'each moves the time on by 1 ms')
FROM uuidv7_status s, before;
SELECT idgen_shift_clock('0');
SELECT uuidv7_accept_clock();

SELECT * FROM finish();
ROLLBACK;
