-- What ids do when the clock is wrong, with the developers' clock. Nothing here
-- depends on how fast the machine is.
SET timezone = 'UTC';
SELECT count(*) FROM (SELECT uuidv7_mono() FROM generate_series(1, 10)) s;
SELECT clock_steps_back FROM uuidv7_status;

-- A clock outside the generator's range is an error that changes nothing.
CREATE TEMP TABLE before AS SELECT last_time FROM uuidv7_status;
SELECT idgen_shift_clock('-30 years');
DO $$
DECLARE detail text; hint text;
BEGIN
    PERFORM uuidv7_mono();
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE NOTICE '%: % | % | %', SQLSTATE,
        regexp_replace(SQLERRM, '"[0-9]{4}-.*"', '"..."'), detail, hint;
END $$;
SELECT idgen_shift_clock('600 years');
DO $$
BEGIN
    PERFORM uuidv7_mono();
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    RAISE NOTICE '%: %', SQLSTATE,
        regexp_replace(SQLERRM, '"[0-9]{4}-.*"', '"..."');
END $$;
SELECT last_time = (TABLE before) AS untouched, clock_steps_back
FROM uuidv7_status;
SELECT idgen_shift_clock('300000 years');
\echo :SQLSTATE

-- Ahead by an hour and back: the time stands, the count goes on.
SELECT idgen_shift_clock('1 hour');
SELECT uuidv7_time(uuidv7_mono()) > clock_timestamp() + '59 min' AS ahead;
SELECT idgen_shift_clock('0');
CREATE TEMP TABLE frozen AS
SELECT n, uuidv7_mono() AS id FROM generate_series(1, 1000) AS n;
SELECT count(DISTINCT id) AS distinct,
       bool_and(id > previous) AS rising,
       max(uuidv7_time(id)) - min(uuidv7_time(id)) <= '1 ms' AS time_stands
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM frozen) s;
SELECT ahead_ms BETWEEN 3500000 AND 3600000 AS hour_ahead, clock_steps_back
FROM uuidv7_status;

-- An error on the way to an id takes none.
CREATE TEMP TABLE word AS SELECT uuidv7_mono() AS id;
DO $$
DECLARE shift interval; refused int := 0;
BEGIN
    FOREACH shift IN ARRAY '{-100 years,9000 years,178000000 years}'::interval[]
    LOOP
        BEGIN
            PERFORM uuidv7_mono(shift);
        EXCEPTION WHEN datetime_field_overflow THEN
            refused := refused + 1;
        END;
    END LOOP;
    RAISE NOTICE 'refused: %', refused;
END $$;
-- The next id's counter follows by exactly one: bits 48..51 are the version,
-- 64 and 65 the variant, the counter is the 12 bits between and 8 after them.
CREATE FUNCTION counter(id uuid) RETURNS int LANGUAGE sql AS $$
SELECT ((('x' || substr(h, 14, 3))::bit(12) ||
         substring(('x' || substr(h, 17, 3))::bit(12) FROM 3 FOR 8))::bit(20))::int
FROM (SELECT replace(id::text, '-', '') AS h) s
$$;
SELECT counter(uuidv7_mono()) - counter(id) AS steps FROM word;

-- A shift by months does not keep the order, since months differ in length.
SELECT uuidv7_accept_clock();
SELECT idgen_shift_clock('2100-01-28 11:00+00' - clock_timestamp());
CREATE TEMP TABLE shifted AS SELECT uuidv7_mono('1 month'::interval) AS id, uuidv7_mono('720 hours'::interval) AS hours;
SELECT idgen_shift_clock('2100-01-29 10:00+00' - clock_timestamp());
SELECT uuidv7_mono('1 month'::interval) > id AS months_rise,
       uuidv7_mono('720 hours'::interval) > hours AS hours_rise FROM shifted;
SELECT idgen_shift_clock('0');

-- The clock is taken again only on request; order breaks once, uniqueness not.
SELECT uuidv7_accept_clock();
SELECT ahead_ms <= 1 AS with_the_clock FROM uuidv7_status;
SELECT uuidv7_mono() < (SELECT id FROM frozen ORDER BY id LIMIT 1) AS order_broken_once;
SELECT uuidv7_mono() < uuidv7_mono() AS rises;
SELECT uuidv7_accept_clock();
