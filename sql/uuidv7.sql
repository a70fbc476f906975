-- UUIDv7: published values, bounds, NULLs, and each error with its SQLSTATE.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';

-- The RFC's own example (RFC 9562, A.6) and the limits of the type.
SELECT uuidv7_time('017F22E2-79B0-7CC3-98C4-DC0C0C07398F');
SELECT uuidv7_time('00000000-0000-7000-8000-000000000000');
SELECT uuidv7_time('ffffffff-ffff-7fff-bfff-ffffffffffff');
SELECT uuidv7_time('018570bb-4a7d-7000-8000-000000000000');

-- Not a v7, or not the RFC's variant: no time.
SELECT id, uuidv7_time(id) IS NULL AS no_time, uuidv7_is_valid(id, NULL) AS valid
FROM (VALUES ('11111111-1111-1111-1111-111111111111'::uuid),
             ('00000000-0000-0000-0000-000000000000'),
             ('ffffffff-ffff-ffff-ffff-ffffffffffff'),
             ('017f22e2-79b0-4cc3-98c4-dc0c0c07398f'),
             ('017f22e2-79b0-8cc3-98c4-dc0c0c07398f'),
             ('017f22e2-79b0-6cc3-98c4-dc0c0c07398f'),
             ('017f22e2-79b0-7cc3-18c4-dc0c0c07398f'),
             ('017f22e2-79b0-7cc3-58c4-dc0c0c07398f'),
             ('017f22e2-79b0-7cc3-c8c4-dc0c0c07398f'),
             ('017f22e2-79b0-7cc3-f8c4-dc0c0c07398f')) AS v (id);

-- Bounds, down to the microsecond on either side.
SELECT at, uuidv7_floor(at), uuidv7_ceil(at)
FROM (VALUES ('1970-01-01 00:00:00'::timestamptz),
             ('1970-01-01 00:00:00.000999'),
             ('1970-01-01 00:00:00.001'),
             ('1999-12-31 23:59:59.999999'),
             ('2000-01-01 00:00:00'),
             ('2023-01-02 04:26:40.637'),
             ('2023-01-02 04:26:40.637999'),
             ('10889-08-02 05:31:50.655'),
             ('10889-08-02 05:31:50.655999')) AS v (at);

-- Times outside 1970..10889 are refused, by each function that takes one.
SELECT uuidv7_floor('1969-12-31 23:59:59.999999');
\echo :SQLSTATE
SELECT uuidv7_floor('10889-08-02 05:31:50.656');
\echo :SQLSTATE
SELECT uuidv7_floor('-infinity');
\echo :SQLSTATE
SELECT uuidv7_floor('294276-12-31 23:59:59.999999');
\echo :SQLSTATE
SELECT uuidv7_floor('4713-01-01 00:00:00 BC');
\echo :SQLSTATE
SELECT uuidv7_ceil('1969-12-31 23:59:59.999');
\echo :SQLSTATE
SELECT uuidv7_ceil('infinity');
\echo :SQLSTATE
SELECT uuidv7_at('1969-12-31 23:59:59.999');
\echo :SQLSTATE
SELECT uuidv7_at('10889-08-02 05:31:50.656');
\echo :SQLSTATE
SELECT uuidv7_at('infinity');
\echo :SQLSTATE

-- A shift that leads out of the range, and an interval that overflows.
DO $$
BEGIN
    PERFORM uuidv7_mono('-100 years'::interval);
EXCEPTION WHEN datetime_field_overflow THEN
    RAISE NOTICE 'refused: %', SQLSTATE;
END $$;
DO $$
BEGIN
    PERFORM uuidv7_mono('9000 years'::interval);
EXCEPTION WHEN datetime_field_overflow THEN
    RAISE NOTICE 'refused: %', SQLSTATE;
END $$;
SELECT uuidv7_mono('178000000 years'::interval);
\echo :SQLSTATE
SELECT uuidv7_time(uuidv7_mono('-50 years'::interval)) < '2020-01-01' AS past,
       uuidv7_time(uuidv7_mono('8000 years'::interval)) > '9000-01-01' AS future;

-- NULL in, NULL out; but a NULL limit is no limit.
SELECT uuidv7_mono(NULL) IS NULL AND uuidv7_at(NULL) IS NULL AND
       uuidv7_floor(NULL) IS NULL AND uuidv7_ceil(NULL) IS NULL AND
       uuidv7_time(NULL) IS NULL AND uuidv7_is_valid(NULL) IS NULL AS all_null;
SELECT uuidv7_is_valid(uuidv7_mono()) AS now,
       uuidv7_is_valid(uuidv7_mono('50 seconds'::interval)) AS little_ahead,
       uuidv7_is_valid(uuidv7_mono('70 seconds'::interval)) AS far_ahead,
       uuidv7_is_valid(uuidv7_mono('8000 years'::interval), NULL) AS no_limit,
       uuidv7_is_valid(uuidv7_floor('1970-01-01')) AS old,
       uuidv7_is_valid(uuidv7_floor('1970-01-01'), '1 min', '1 day') AS too_old,
       uuidv7_is_valid(uuidv7_mono('-1 hour'::interval), '0', '1 day') AS young,
       uuidv7_is_valid(uuidv7_mono('-1 hour'::interval), NULL, '59 min') AS late;
SELECT uuidv7_is_valid(uuidv7_mono(), '-1 second');
\echo :SQLSTATE
SELECT uuidv7_is_valid(uuidv7_mono(), NULL, '-1 day');
\echo :SQLSTATE
SELECT uuidv7_is_valid(uuidv7_mono(), '294000 years');
\echo :SQLSTATE
SELECT uuidv7_is_valid(uuidv7_mono(), NULL, '294000 years');
\echo :SQLSTATE

-- The bounds enclose every id of their millisecond and no other.
SELECT bool_and(id BETWEEN uuidv7_floor(at) AND uuidv7_ceil(at)) AS inside,
       bool_or(id BETWEEN uuidv7_floor(at + '1 ms') AND uuidv7_ceil(at + '1 ms'))
           AS in_next,
       bool_and(uuidv7_time(id) = date_trunc('milliseconds', at)) AS time_floored,
       count(DISTINCT id)
FROM (SELECT at, uuidv7_at(at) AS id
      FROM generate_series('1970-01-01', '2100-01-01', '13 days 00:00:00.123456'::interval) AS at) s;
