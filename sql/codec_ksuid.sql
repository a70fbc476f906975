-- KSUID: published values both ways, what is refused, times.
SET timezone = 'UTC';
SET datestyle = 'ISO';
\getenv top PG_ABS_SRCDIR
\set file :top '/test/vectors/ksuid.tsv'
CREATE TABLE vector (ksuid text, id bytea);
COPY vector FROM :'file' WITH (HEADER, ENCODING 'SQL_ASCII');
SELECT * FROM vector
WHERE ksuid_decode(ksuid) IS DISTINCT FROM id OR ksuid_encode(id) <> ksuid;
SELECT count(*), count(id) AS valid FROM vector;
SELECT ksuid, ksuid_time(id) FROM vector
WHERE id IS NOT NULL ORDER BY ksuid COLLATE "C";

SELECT length(id), ksuid_decode(ksuid_encode(id)) = id AS same,
       ksuid_time(id) BETWEEN clock_timestamp() - interval '2 s' AND clock_timestamp() AS now
FROM ksuid_next() AS id;
SELECT count(DISTINCT substr(ksuid_next(), 5)) FROM generate_series(1, 1000);

-- Other lengths have no text and no time.
SELECT ksuid_encode('\x');
\echo :SQLSTATE
SELECT ksuid_encode('\x0669F7EFB5A1CD34B5F99D1154FB6853345C97');
\echo :SQLSTATE
SELECT ksuid_encode('\x0669F7EFB5A1CD34B5F99D1154FB6853345C973535');
\echo :SQLSTATE
SELECT ksuid_time('\x') IS NULL AS empty,
       ksuid_time('\x0669F7EFB5A1CD34B5F99D1154FB6853345C97') IS NULL AS short;

-- Seconds before the epoch and behind the last one.
DO $$
DECLARE
    at timestamptz;
BEGIN
    FOREACH at IN ARRAY ARRAY['2014-05-13 16:53:20', '2150-06-19 23:21:30'] LOOP
        PERFORM idgen_shift_clock(at - clock_timestamp());
        RAISE NOTICE '%', date_trunc('minute', ksuid_time(ksuid_next()));
    END LOOP;
    FOREACH at IN ARRAY ARRAY['2014-05-13 16:52:20', '2150-06-19 23:21:36'] LOOP
        BEGIN
            PERFORM idgen_shift_clock(at - clock_timestamp());
            PERFORM ksuid_next();
        EXCEPTION WHEN object_not_in_prerequisite_state THEN
            RAISE NOTICE 'refused: %', SQLSTATE;
        END;
    END LOOP;
    PERFORM idgen_shift_clock('0');
END $$;

SELECT ksuid_encode(NULL) IS NULL AND ksuid_decode(NULL) IS NULL AND
       ksuid_time(NULL) IS NULL AS all_null;
DROP TABLE vector;
