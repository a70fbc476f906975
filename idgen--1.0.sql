/* idgen--1.0.sql */

\echo Use "CREATE EXTENSION idgen" to load this file. \quit

/* UUIDv7: generators */

CREATE FUNCTION uuidv7_mono() RETURNS uuid
AS 'MODULE_PATHNAME', 'uuidv7_mono'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_mono() IS
'next UUIDv7 (RFC 9562, section 5.7) of the server: greater than every one before it, in whichever session; time in ms, 20-bit counter (section 6.2, method 1), 54 random bits. Errors: 55000 when the clock is outside 2020..2577 or, before PostgreSQL 17, idgen is not preloaded';

CREATE FUNCTION uuidv7_mono(shift interval) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuidv7_mono_shift'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_mono(interval) IS
'next UUIDv7 of the server with its time moved by the interval, as core''s uuidv7(interval); in order among ids of the same shift. Errors: as uuidv7_mono(), and 22008 when the moved time is outside 1970..10889';

CREATE FUNCTION uuidv7_at(at timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuidv7_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_at(timestamptz) IS
'UUIDv7 of that time, rounded down to the ms, with 74 random bits: for backfills; no order within a ms. Error: 22008 when the time is outside 1970..10889';

/* UUIDv7: bounds, time, validation */

CREATE FUNCTION uuidv7_floor(at timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuidv7_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_floor(timestamptz) IS
'smallest UUIDv7 of the ms that holds the time: for range scans and partition bounds. Error: 22008 when the time is outside 1970..10889';

CREATE FUNCTION uuidv7_ceil(at timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuidv7_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_ceil(timestamptz) IS
'greatest UUIDv7 of the ms that holds the time: for range scans. Error: 22008 when the time is outside 1970..10889';

CREATE FUNCTION uuidv7_time(id uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'uuidv7_time'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_time(uuid) IS
'time in a UUIDv7, to the ms; NULL for any other version or variant (RFC 9562, sections 4.1 and 4.2)';

/* Not STRICT: a NULL limit means no limit. VOLATILE: it reads the clock. */
CREATE FUNCTION uuidv7_is_valid(
    id uuid,
    max_ahead interval DEFAULT '1 minute',
    max_behind interval DEFAULT NULL
) RETURNS boolean
AS 'MODULE_PATHNAME', 'uuidv7_is_valid'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_is_valid(uuid, interval, interval) IS
'whether an id that a client brings is a UUIDv7 whose time is at most max_ahead after and max_behind before the clock (NULL: no limit); NULL for NULL. Errors: 22023 for a negative limit, 22008 for one that leads out of the range of timestamps';

/* UUIDv7: operating */

CREATE FUNCTION uuidv7_accept_clock() RETURNS void
AS 'MODULE_PATHNAME', 'uuidv7_accept_clock'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
/* It breaks the order that everybody else relies on. */
REVOKE ALL ON FUNCTION uuidv7_accept_clock() FROM PUBLIC;
COMMENT ON FUNCTION uuidv7_accept_clock() IS
'lets the times of uuidv7_mono() go back to the clock, after a clock that was wrongly ahead; breaks the order once, logged; superuser only (42501)';

CREATE FUNCTION uuidv7_status(
    OUT last_time timestamptz,
    OUT ahead_ms bigint,
    OUT counter_overflows bigint,
    OUT clock_steps_back bigint
)
AS 'MODULE_PATHNAME', 'uuidv7_status'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuidv7_status() IS 'the row of view uuidv7_status';

CREATE VIEW uuidv7_status AS
SELECT last_time, ahead_ms, counter_overflows, clock_steps_back
FROM @extschema@.uuidv7_status();
/* Nothing in it that an id does not show. */
GRANT SELECT ON uuidv7_status TO PUBLIC;
COMMENT ON VIEW uuidv7_status IS
'state of uuidv7_mono() since the server started';
COMMENT ON COLUMN uuidv7_status.last_time IS
'time in the last id issued; NULL before the first';
COMMENT ON COLUMN uuidv7_status.ahead_ms IS
'ms by which that time is ahead of the clock; more than 1 after the clock went back';
COMMENT ON COLUMN uuidv7_status.counter_overflows IS
'how often the 20-bit counter was used up and the time moved 1 ms ahead';
COMMENT ON COLUMN uuidv7_status.clock_steps_back IS
'how often the clock was found to have gone back by 2 ms or more';

/* Developers */

CREATE FUNCTION idgen_shift_clock(shift interval) RETURNS void
AS 'MODULE_PATHNAME', 'idgen_shift_clock'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
/* Any caller would move the times in everybody's ids. */
REVOKE ALL ON FUNCTION idgen_shift_clock(interval) FROM PUBLIC;
COMMENT ON FUNCTION idgen_shift_clock(interval) IS
'for tests only: shifts the clock that ids of the whole server see, counted from the real one, until the server restarts; superuser only (42501)';
