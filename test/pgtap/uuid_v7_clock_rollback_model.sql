-- The clock goes back by 5 s and on again: ids rise on, their time stands still
-- meanwhile and then follows the clock.
BEGIN;
SELECT plan(8);

CREATE TEMP TABLE ids (n int GENERATED ALWAYS AS IDENTITY, phase text, id uuid);
CREATE FUNCTION pg_temp.take(phase text) RETURNS void LANGUAGE sql AS $$
INSERT INTO ids (phase, id) SELECT phase, uuidv7_mono()
FROM generate_series(1, 1000)
$$;
CREATE TEMP TABLE steps AS SELECT clock_steps_back AS n FROM uuidv7_status;

SELECT pg_temp.take('1 before');
SELECT idgen_shift_clock('-5 seconds');
SELECT pg_temp.take('2 back');
SELECT ok(ahead_ms BETWEEN 4000 AND 5001, 'ids are 5 s ahead of the clock')
FROM uuidv7_status;
SELECT idgen_shift_clock('0');
SELECT pg_temp.take('3 after');

SELECT is(count(*), 3000::bigint, 'ids came in every phase') FROM ids;
SELECT is(count(*) FILTER (WHERE id <= previous), 0::bigint, 'strictly increasing')
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM ids) s;
SELECT ok(max(uuidv7_time(id)) FILTER (WHERE phase = '2 back') -
          max(uuidv7_time(id)) FILTER (WHERE phase = '1 before') <= '1 ms',
          'time stands still while the clock is behind')
FROM ids;
SELECT ok(max(uuidv7_time(id)) FILTER (WHERE phase = '3 after') >
          max(uuidv7_time(id)) FILTER (WHERE phase = '2 back'),
          'then it follows the clock again')
FROM ids;
SELECT is(clock_steps_back - n, 1::bigint, 'one step was seen')
FROM uuidv7_status, steps;
SELECT cmp_ok(ahead_ms, '<=', 1::bigint, 'and ids are with the clock')
FROM uuidv7_status;


-- Back once more: that is another step.
SELECT idgen_shift_clock('-5 seconds');
SELECT pg_temp.take('4 back again');
SELECT is(clock_steps_back - n, 2::bigint, 'a second step is counted')
FROM uuidv7_status, steps;
SELECT idgen_shift_clock('0');

SELECT * FROM finish();
ROLLBACK;
