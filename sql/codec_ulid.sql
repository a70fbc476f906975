-- ULID: published values both ways, the lenient reading, times and bounds.
SET timezone = 'UTC';
SET datestyle = 'ISO';
\getenv top PG_ABS_SRCDIR
\set file :top '/test/vectors/ulid.tsv'
CREATE TABLE vector (ulid text, lenient boolean, id uuid);
COPY vector FROM :'file' WITH (HEADER, ENCODING 'SQL_ASCII');
SELECT * FROM vector
WHERE ulid_decode(ulid, lenient) IS DISTINCT FROM id
   OR (NOT lenient AND (ulid_decode(ulid) IS DISTINCT FROM id
                        OR ulid_encode(id) <> upper(ulid)));
SELECT count(*), count(id) AS valid FROM vector;

-- What is no ULID where nobody asked for leniency.
SELECT count(*) AS refused FROM vector
WHERE lenient AND id IS NOT NULL AND ulid_decode(ulid) IS NULL;

SELECT ulid_time('01563e3a-b5d3-d676-4c61-efb99302bd5b'),
       extract(epoch FROM ulid_time('01563e3a-b5d3-d676-4c61-efb99302bd5b'));
SELECT ulid_time('00000000-0000-0000-0000-000000000000'),
       ulid_time('ffffffff-ffff-ffff-ffff-ffffffffffff');

-- Bounds, down to the microsecond on either side.
SELECT at, ulid_floor(at), ulid_ceil(at)
FROM (VALUES ('1970-01-01 00:00:00'::timestamptz),
             ('1970-01-01 00:00:00.000999'),
             ('1970-01-01 00:00:00.001'),
             ('1999-12-31 23:59:59.999999'),
             ('2023-01-02 04:26:40.637'),
             ('10889-08-02 05:31:50.655999')) AS v (at);
SELECT ulid_floor('1969-12-31 23:59:59.999999');
\echo :SQLSTATE
SELECT ulid_ceil('10889-08-02 05:31:50.656');
\echo :SQLSTATE
SELECT ulid_floor('-infinity');
\echo :SQLSTATE
SELECT ulid_ceil('infinity');
\echo :SQLSTATE

SELECT ulid_encode(NULL) IS NULL AND ulid_decode(NULL) IS NULL AND
       ulid_decode('01ARZ3NDEKTSV4RRFFQ69G5FAV', NULL) IS NULL AND
       ulid_time(NULL) IS NULL AND ulid_floor(NULL) IS NULL AND
       ulid_ceil(NULL) IS NULL AS all_null;

-- The generator's clock. The order matters: the word never goes back.
SELECT ulid_next() BETWEEN ulid_floor(now()) AND ulid_ceil(clock_timestamp()) AS now;
SELECT idgen_shift_clock(('2019-12-31 23:59:59.999'::timestamptz - clock_timestamp()) - '1 minute');
DO $$
BEGIN
    PERFORM ulid_next();
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    RAISE NOTICE 'refused: %', SQLSTATE;
END $$;
SELECT idgen_shift_clock('0');
DROP TABLE vector;
