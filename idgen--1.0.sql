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
'next UUIDv7 of the server with its time moved by the interval, as core''s uuidv7(interval); in order among ids of the same shift, if that has no months and no days. Errors: as uuidv7_mono(), and 22008 when the moved time is outside 1970..10889';

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
FROM uuidv7_status();
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
'how often the clock was found to have gone back by 2 ms or more; until it has caught up, further steps are not counted';

/* Developers */

CREATE FUNCTION idgen_shift_clock(shift interval) RETURNS void
AS 'MODULE_PATHNAME', 'idgen_shift_clock'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
/* Any caller would move the times in everybody's ids. */
REVOKE ALL ON FUNCTION idgen_shift_clock(interval) FROM PUBLIC;
COMMENT ON FUNCTION idgen_shift_clock(interval) IS
'for tests only: shifts the clock that ids of the whole server see, counted from the real one, until the server restarts; superuser only (42501)';

/* Segments: tables */

CREATE TABLE id_segment (
    biz_tag text COLLATE "C" NOT NULL PRIMARY KEY
        CHECK (octet_length(biz_tag) BETWEEN 1 AND 63),
    max_id bigint NOT NULL DEFAULT 0 CHECK (max_id >= 0),
    step integer NOT NULL DEFAULT 1000 CHECK (step BETWEEN 1 AND 1000000000),
    updated_at timestamptz NOT NULL DEFAULT now(),
    incarnation uuid NOT NULL DEFAULT gen_random_uuid(),
    system_id bigint,
    timeline integer
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE id_segment IS
'a row for each business tag that segment_next() and segment_alloc() give numbers of';
COMMENT ON COLUMN id_segment.biz_tag IS 'name, 1 to 63 bytes';
COMMENT ON COLUMN id_segment.max_id IS
'the last number that is reserved; never goes down';
COMMENT ON COLUMN id_segment.step IS
'numbers in a block, 1 to 1,000,000,000; a change counts from the next block on';
COMMENT ON COLUMN id_segment.updated_at IS 'time of the last reservation';
COMMENT ON COLUMN id_segment.incarnation IS
'random; tells a tag that was deleted and made anew from the one before';
COMMENT ON COLUMN id_segment.system_id IS
'system identifier of the server of the last reservation';
COMMENT ON COLUMN id_segment.timeline IS
'timeline of the server of the last reservation';

/* Not keyed by numbers alone: it must be able to hold blocks that overlap, and
   what a subscription brings from a server that issues the same tag. */
CREATE TABLE segment_log (
    biz_tag text COLLATE "C" NOT NULL,
    incarnation uuid NOT NULL,
    start_id bigint NOT NULL,
    end_id bigint NOT NULL,
    proc text NOT NULL,
    allocated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (biz_tag, incarnation, start_id, allocated_at, proc)
);
COMMENT ON TABLE segment_log IS
'the blocks that were reserved; written unless idgen.segment_log is off, kept for idgen.segment_log_retention';
COMMENT ON COLUMN segment_log.biz_tag IS 'the tag';
COMMENT ON COLUMN segment_log.incarnation IS 'the tag''s incarnation';
COMMENT ON COLUMN segment_log.start_id IS 'first number of the block';
COMMENT ON COLUMN segment_log.end_id IS 'last number of the block';
COMMENT ON COLUMN segment_log.proc IS
'cluster_name and process id of the worker that reserved it';
COMMENT ON COLUMN segment_log.allocated_at IS 'when it was reserved';

/* pg_dump reads them as whoever runs it, who need not be a superuser. */
GRANT SELECT ON id_segment, segment_log TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('id_segment', '');
SELECT pg_catalog.pg_extension_config_dump('segment_log', '');

CREATE FUNCTION id_segment_guard() RETURNS trigger
AS 'MODULE_PATHNAME', 'id_segment_guard'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION id_segment_guard() FROM PUBLIC;
COMMENT ON FUNCTION id_segment_guard() IS
'trigger: max_id never goes down (22023; kept in silence where a replication worker would lower it), a changed tag is a new incarnation, and no number of a changed row is issued before the change is committed or rolled back';

/* Each row, not each statement, since a subscription has no statements. */
CREATE TRIGGER id_segment_guard BEFORE UPDATE ON id_segment
FOR EACH ROW EXECUTE FUNCTION id_segment_guard();
CREATE TRIGGER id_segment_change AFTER UPDATE OR DELETE ON id_segment
FOR EACH ROW EXECUTE FUNCTION id_segment_guard();
CREATE TRIGGER id_segment_truncate AFTER TRUNCATE ON id_segment
FOR EACH STATEMENT EXECUTE FUNCTION id_segment_guard();
ALTER TABLE id_segment ENABLE ALWAYS TRIGGER id_segment_guard;
ALTER TABLE id_segment ENABLE ALWAYS TRIGGER id_segment_change;
ALTER TABLE id_segment ENABLE ALWAYS TRIGGER id_segment_truncate;

CREATE VIEW segment_overlap AS
SELECT * FROM (
    SELECT biz_tag, incarnation, start_id, end_id, max(end_id) OVER (
        PARTITION BY biz_tag, incarnation ORDER BY start_id, end_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS taken_to
    FROM segment_log) blocks
WHERE start_id <= taken_to;
GRANT SELECT ON segment_overlap TO PUBLIC;
COMMENT ON VIEW segment_overlap IS
'blocks of segment_log that overlap one before: must be empty';
COMMENT ON COLUMN segment_overlap.biz_tag IS 'the tag';
COMMENT ON COLUMN segment_overlap.incarnation IS 'the tag''s incarnation';
COMMENT ON COLUMN segment_overlap.start_id IS 'first number of the block';
COMMENT ON COLUMN segment_overlap.end_id IS 'last number of the block';
COMMENT ON COLUMN segment_overlap.taken_to IS
'last number of the blocks that start before it';

/* Segments: functions. They reach the tables without the caller's rights, so
   who may use them is for the administrator to say. */

CREATE FUNCTION segment_next(biz_tag text) RETURNS bigint
AS 'MODULE_PATHNAME', 'segment_next'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION segment_next(text) FROM PUBLIC;
COMMENT ON FUNCTION segment_next(text) IS
'next number of the tag: greater than every one before it, in whichever session of the server. Waits at most idgen.timeout. Errors: 02000 unknown tag, 55000 not committed yet or no answer, 55P03 locked, 2200H exhausted, 53000 no worker slot, 25006 read-only or standby, 22023 bad tag';

CREATE FUNCTION segment_alloc(
    biz_tag text,
    size integer DEFAULT NULL,
    OUT start_id bigint,
    OUT end_id bigint
)
/* Not STRICT: a NULL size means the tag's step. */
AS 'MODULE_PATHNAME', 'segment_alloc'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION segment_alloc(text, integer) FROM PUBLIC;
COMMENT ON FUNCTION segment_alloc(text, integer) IS
'reserves size numbers of the tag (NULL: its step) for the caller''s own use. Errors: as segment_next(), and 22023 for a size below 1';

CREATE FUNCTION segment_set(biz_tag text, next bigint) RETURNS void
AS 'MODULE_PATHNAME', 'segment_set'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION segment_set(text, bigint) FROM PUBLIC;
COMMENT ON FUNCTION segment_set(text, bigint) IS
'makes next the next number of the tag, upward only; at once, as setval(). Errors: as segment_next(), and 22023 when numbers up to next are reserved';

CREATE FUNCTION segment_status(
    OUT biz_tag text,
    OUT block_start bigint,
    OUT block_end bigint,
    OUT next_id bigint,
    OUT next_block_start bigint,
    OUT next_block_end bigint,
    OUT step integer,
    OUT issued bigint,
    OUT blocks bigint,
    OUT waits bigint,
    OUT longest_wait_ms double precision,
    OUT last_error text,
    OUT coordinator text,
    OUT coordinator_since timestamptz,
    OUT coordinator_error text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'segment_status'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION segment_status() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION segment_status() TO pg_monitor;
COMMENT ON FUNCTION segment_status() IS 'the rows of view segment_status';

CREATE VIEW segment_status AS
SELECT biz_tag, block_start, block_end, next_id, next_block_start,
       next_block_end, step, issued, blocks, waits, longest_wait_ms, last_error,
       coordinator, coordinator_since, coordinator_error
FROM segment_status();
/* As pg_stat views that tell of others' work. */
GRANT SELECT ON segment_status TO pg_monitor;
COMMENT ON VIEW segment_status IS
'tags of this database that are in shared memory, since the server started or their slot was last given away';
COMMENT ON COLUMN segment_status.biz_tag IS 'the tag';
COMMENT ON COLUMN segment_status.block_start IS 'first number of the block in use';
COMMENT ON COLUMN segment_status.block_end IS 'last number of the block in use';
COMMENT ON COLUMN segment_status.next_id IS 'number that comes next; NULL when the block is used up';
COMMENT ON COLUMN segment_status.next_block_start IS 'first number of the next block, if it has been fetched';
COMMENT ON COLUMN segment_status.next_block_end IS 'last number of the next block';
COMMENT ON COLUMN segment_status.step IS 'numbers in a block, as last read';
COMMENT ON COLUMN segment_status.issued IS 'numbers issued by segment_next()';
COMMENT ON COLUMN segment_status.blocks IS 'blocks fetched for segment_next()';
COMMENT ON COLUMN segment_status.waits IS 'calls of segment_next() that had to wait';
COMMENT ON COLUMN segment_status.longest_wait_ms IS 'the longest such wait in ms';
COMMENT ON COLUMN segment_status.last_error IS 'what kept the last request from being served; NULL when it was';
COMMENT ON COLUMN segment_status.coordinator IS 'host and port that this database''s worker is connected to; NULL without idgen.coordinator, or without a connection';
COMMENT ON COLUMN segment_status.coordinator_since IS 'when that connection was made, or failed';
COMMENT ON COLUMN segment_status.coordinator_error IS 'why there is no connection';

/* Snowflake: tables. Those of the database idgen.lease_database count. */

CREATE TABLE snowflake_layout (
    one_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (one_row),
    epoch_ms bigint NOT NULL DEFAULT 1704067200000
        CHECK (epoch_ms BETWEEN -8796093022208 AND 8796093022208),
    node_bits integer NOT NULL DEFAULT 10 CHECK (node_bits BETWEEN 0 AND 16),
    sequence_bits integer NOT NULL DEFAULT 12
        CHECK (sequence_bits BETWEEN 1 AND 16),
    ttl_ms integer NOT NULL DEFAULT 10000
        CHECK (ttl_ms BETWEEN 1000 AND 3600000),
    system_id bigint,
    timeline integer,
    not_before timestamptz,
    CHECK (node_bits + sequence_bits <= 22)
);
COMMENT ON TABLE snowflake_layout IS
'one row, or none for the built-in layout, which the first lease then writes: how ids are composed. Can be changed until that first lease';
COMMENT ON COLUMN snowflake_layout.one_row IS 'true; there is one row at most';
COMMENT ON COLUMN snowflake_layout.epoch_ms IS
'where the 41 bits of time begin, in ms since 1970-01-01 00:00:00 UTC; 2024-01-01 by default';
COMMENT ON COLUMN snowflake_layout.node_bits IS 'bits of the node, 0 to 16';
COMMENT ON COLUMN snowflake_layout.sequence_bits IS
'bits of the sequence, 1 to 16, and at most 22 of both';
COMMENT ON COLUMN snowflake_layout.ttl_ms IS
'for how long a node is leased, 1,000 to 3,600,000 ms';
COMMENT ON COLUMN snowflake_layout.system_id IS
'system identifier of the server of the last lease; NULL before the first';
COMMENT ON COLUMN snowflake_layout.timeline IS 'its timeline';
COMMENT ON COLUMN snowflake_layout.not_before IS
'no node that has no row yet is leased before this: after a change of system identifier or timeline';

CREATE TABLE node_lease (
    node_id integer NOT NULL PRIMARY KEY CHECK (node_id BETWEEN 0 AND 65535),
    holder uuid,
    holder_name text,
    epoch bigint NOT NULL,
    leased_from timestamptz NOT NULL,
    leased_until timestamptz NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE node_lease IS
'a row for each node that was ever leased; only the lease worker changes it';
COMMENT ON COLUMN node_lease.node_id IS 'the node in ids';
COMMENT ON COLUMN node_lease.holder IS
'random; another for each start of a server';
COMMENT ON COLUMN node_lease.holder_name IS 'cluster_name, for people';
COMMENT ON COLUMN node_lease.epoch IS 'counts the leases of the node';
COMMENT ON COLUMN node_lease.leased_from IS
'ids of the node have times from here on';
COMMENT ON COLUMN node_lease.leased_until IS
'... and before this; never granted again up to here';

GRANT SELECT ON snowflake_layout, node_lease TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('snowflake_layout', '');
SELECT pg_catalog.pg_extension_config_dump('node_lease', '');

CREATE FUNCTION snowflake_guard() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_guard'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION snowflake_guard() FROM PUBLIC;
COMMENT ON FUNCTION snowflake_guard() IS
'trigger: only the lease worker changes node_lease, the layout is final with the first lease (55000), and a subscription changes neither';
CREATE TRIGGER snowflake_guard
BEFORE INSERT OR UPDATE OR DELETE ON snowflake_layout
FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_truncate BEFORE TRUNCATE ON snowflake_layout
FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON node_lease
FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_truncate BEFORE TRUNCATE ON node_lease
FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_guard;
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_truncate;
ALTER TABLE node_lease ENABLE ALWAYS TRIGGER snowflake_guard;
ALTER TABLE node_lease ENABLE ALWAYS TRIGGER snowflake_truncate;

/* Snowflake: functions */

CREATE FUNCTION snowflake_next() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_next'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_next() IS
'next Snowflake id of the server: 41 bits of time in ms, node, sequence; greater than every one before it, in whichever session, and unlike those of all servers that lease their nodes from one table. Waits at most idgen.timeout for a lease and idgen.clock_max_wait for the clock. Errors: 55000 no lease, or the clock is too far behind, 55P03 locked, 2200H the time field has ended, 53000 no worker slot, 25006 standby, 22023 idgen.node_id out of range';

CREATE FUNCTION snowflake_time(
    id bigint,
    epoch_ms bigint DEFAULT 1704067200000,
    node_bits integer DEFAULT 10,
    sequence_bits integer DEFAULT 12
) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_time'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_time(bigint, bigint, integer, integer) IS
'time in a Snowflake id of that layout, to the ms; NULL for a number that is none. Error: 22023 for a layout that no id has';

CREATE FUNCTION snowflake_node(
    id bigint,
    epoch_ms bigint DEFAULT 1704067200000,
    node_bits integer DEFAULT 10,
    sequence_bits integer DEFAULT 12
) RETURNS integer
AS 'MODULE_PATHNAME', 'snowflake_node'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_node(bigint, bigint, integer, integer) IS
'node in a Snowflake id of that layout; NULL for a number that is none. Error: 22023 for a layout that no id has';

CREATE FUNCTION snowflake_sequence(
    id bigint,
    epoch_ms bigint DEFAULT 1704067200000,
    node_bits integer DEFAULT 10,
    sequence_bits integer DEFAULT 12
) RETURNS integer
AS 'MODULE_PATHNAME', 'snowflake_sequence'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_sequence(bigint, bigint, integer, integer) IS
'sequence in a Snowflake id of that layout; NULL for a number that is none. Error: 22023 for a layout that no id has';

CREATE FUNCTION snowflake_floor(
    at timestamptz,
    epoch_ms bigint DEFAULT 1704067200000,
    node_bits integer DEFAULT 10,
    sequence_bits integer DEFAULT 12
) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_floor(timestamptz, bigint, integer, integer) IS
'smallest Snowflake id of the ms that holds the time: for range scans and partition bounds. Errors: 22008 before the epoch or 2^41 ms after it, 22023 for a layout that no id has';

CREATE FUNCTION snowflake_ceil(
    at timestamptz,
    epoch_ms bigint DEFAULT 1704067200000,
    node_bits integer DEFAULT 10,
    sequence_bits integer DEFAULT 12
) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ceil(timestamptz, bigint, integer, integer) IS
'greatest Snowflake id of the ms that holds the time: for range scans. Errors: as snowflake_floor()';

CREATE FUNCTION snowflake_accept_clock() RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_accept_clock'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
/* It breaks the order that everybody else relies on. */
REVOKE ALL ON FUNCTION snowflake_accept_clock() FROM PUBLIC;
COMMENT ON FUNCTION snowflake_accept_clock() IS
'lets the times of snowflake_next() go back to the clock, after a clock that was wrongly ahead: gives the node back and takes another, so ids stay unique; breaks the order once, logged; superuser only (42501)';

CREATE FUNCTION snowflake_status(
    OUT node integer,
    OUT holder uuid,
    OUT epoch bigint,
    OUT leased_from timestamptz,
    OUT leased_until timestamptz,
    OUT renewals bigint,
    OUT last_time timestamptz,
    OUT sequence_waits bigint,
    OUT clock_waits bigint,
    OUT refusals bigint,
    OUT days_left bigint,
    OUT leased boolean,
    OUT epoch_ms bigint,
    OUT node_bits integer,
    OUT sequence_bits integer,
    OUT coordinator text,
    OUT coordinator_since timestamptz,
    OUT coordinator_error text
)
AS 'MODULE_PATHNAME', 'snowflake_status'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
REVOKE ALL ON FUNCTION snowflake_status() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowflake_status() TO pg_monitor;
COMMENT ON FUNCTION snowflake_status() IS 'the row of view snowflake_status';

CREATE VIEW snowflake_status AS
SELECT node, holder, epoch, leased_from, leased_until, renewals, last_time,
       sequence_waits, clock_waits, refusals, days_left, leased, epoch_ms,
       node_bits, sequence_bits, coordinator, coordinator_since,
       coordinator_error
FROM snowflake_status();
GRANT SELECT ON snowflake_status TO pg_monitor;
COMMENT ON VIEW snowflake_status IS
'the node lease of this server and its generator, since the server started; NULLs before the first lease';
COMMENT ON COLUMN snowflake_status.node IS 'node of the last lease';
COMMENT ON COLUMN snowflake_status.holder IS 'the holder in node_lease';
COMMENT ON COLUMN snowflake_status.epoch IS 'epoch of that lease';
COMMENT ON COLUMN snowflake_status.leased_from IS 'first time that it grants';
COMMENT ON COLUMN snowflake_status.leased_until IS 'end of what it grants';
COMMENT ON COLUMN snowflake_status.renewals IS 'how often leases were renewed';
COMMENT ON COLUMN snowflake_status.last_time IS
'time in the last id, or where the next one may begin';
COMMENT ON COLUMN snowflake_status.sequence_waits IS
'calls that waited for the next ms since the sequence was used up';
COMMENT ON COLUMN snowflake_status.clock_waits IS
'calls that waited for a clock that went back';
COMMENT ON COLUMN snowflake_status.refusals IS
'calls that were refused since it had gone back too far';
COMMENT ON COLUMN snowflake_status.days_left IS
'days until the time field ends';
COMMENT ON COLUMN snowflake_status.leased IS
'whether the lease is in use now: it was not given back, and has not ended';
COMMENT ON COLUMN snowflake_status.epoch_ms IS
'the layout: its epoch in ms since 1970';
COMMENT ON COLUMN snowflake_status.node_bits IS 'the layout: bits of the node';
COMMENT ON COLUMN snowflake_status.sequence_bits IS
'the layout: bits of the sequence';
COMMENT ON COLUMN snowflake_status.coordinator IS
'host and port that the lease worker is connected to; NULL without idgen.coordinator, or without a connection';
COMMENT ON COLUMN snowflake_status.coordinator_since IS
'when that connection was made, or failed';
COMMENT ON COLUMN snowflake_status.coordinator_error IS
'why there is no connection';

/* What other servers of a fleet call, of the one that is their coordinator. */

CREATE FUNCTION coordinator_reserve(
    biz_tags text[],
    kinds text[],
    amounts bigint[],
    proc text,
    OUT row_state text,
    OUT incarnation uuid,
    OUT max_id bigint,
    OUT raised_to bigint,
    OUT step integer,
    OUT start_id bigint,
    OUT end_id bigint,
    OUT sqlstate text,
    OUT message text,
    OUT detail text,
    OUT hint text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'coordinator_reserve'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
SET client_min_messages = error;
REVOKE ALL ON FUNCTION coordinator_reserve(text[], text[], bigint[], text) FROM PUBLIC;
COMMENT ON FUNCTION coordinator_reserve(text[], text[], bigint[], text) IS
'for servers whose idgen.coordinator is this one: answers demands on tags, a row for each; kinds are look, block (amount: callers that wait), alloc (numbers, 0 for the step) and set (the next number). An error of one tag is in its rows. Errors: 22023 for other demands, 55P03 a table is locked, 25006 read-only or standby';

CREATE FUNCTION coordinator_prune() RETURNS boolean
AS 'MODULE_PATHNAME', 'coordinator_prune'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
SET client_min_messages = error;
REVOKE ALL ON FUNCTION coordinator_prune() FROM PUBLIC;
COMMENT ON FUNCTION coordinator_prune() IS
'for servers whose idgen.coordinator is this one: deletes up to 10,000 rows of segment_log that are older than idgen.segment_log_retention here; false when there may be more. Errors: 55P03 a table is locked, 25006 read-only or standby';

CREATE FUNCTION coordinator_lease(
    step text,
    holder uuid,
    holder_name text,
    node integer,
    epoch bigint,
    from_us bigint,
    until_us bigint,
    OUT epoch_ms bigint,
    OUT node_bits integer,
    OUT sequence_bits integer,
    OUT ttl_ms integer,
    OUT node integer,
    OUT epoch bigint,
    OUT from_us bigint,
    OUT until_us bigint,
    OUT free_in_ms bigint,
    OUT lost integer,
    OUT sqlstate text,
    OUT message text,
    OUT detail text,
    OUT hint text
)
AS 'MODULE_PATHNAME', 'coordinator_lease'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
SET client_min_messages = error;
REVOKE ALL ON FUNCTION coordinator_lease(text, uuid, text, integer, bigint, bigint, bigint) FROM PUBLIC;
COMMENT ON FUNCTION coordinator_lease(text, uuid, text, integer, bigint, bigint, bigint) IS
'for servers whose idgen.coordinator is this one: a step of a node lease: take (node: the only one, or -1), renew, or give back (until_us: the end, in microseconds since 1970). What stands against it is in the last four columns. Errors: 22023 for another step, 55P03 a table is locked, 25006 read-only or standby';

CREATE FUNCTION idgen_stop_in_next_call() RETURNS void
AS 'MODULE_PATHNAME', 'idgen_stop_in_next_call'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION idgen_stop_in_next_call() FROM PUBLIC;
COMMENT ON FUNCTION idgen_stop_in_next_call() IS
'for tests only: stops this session (SIGSTOP) in its next snowflake_next(), between the clock and the id; superuser only (42501)';

/* Codecs: base 32 and TypeID */

CREATE FUNCTION b32_encode(id uuid) RETURNS text
AS 'MODULE_PATHNAME', 'b32_encode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION b32_encode(uuid) IS
'the id in 26 lower-case characters of Crockford''s base 32, the suffix of a TypeID; in byte order (COLLATE "C") they sort as the ids do';

CREATE FUNCTION b32_decode(encoded text) RETURNS uuid
AS 'MODULE_PATHNAME', 'b32_decode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION b32_decode(text) IS
'the id of b32_encode(); NULL for any other text: each id has one';

CREATE FUNCTION typeid_encode(prefix text, id uuid) RETURNS text
AS 'MODULE_PATHNAME', 'typeid_encode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION typeid_encode(text, uuid) IS
'TypeID (specification 0.3): prefix, underscore, b32_encode(id); the latter alone for an empty prefix; 26 to 90 bytes. Error: 22023 for a prefix other than 0 to 63 characters a to z and, inside it, underscores';

CREATE FUNCTION typeid_decode(typeid text, prefix text) RETURNS uuid
AS 'MODULE_PATHNAME', 'typeid_decode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION typeid_decode(text, text) IS
'the id in a TypeID of that prefix; NULL when it is malformed or has another prefix';

CREATE FUNCTION typeid_prefix(typeid text) RETURNS text
AS 'MODULE_PATHNAME', 'typeid_prefix'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION typeid_prefix(text) IS
'the prefix of a TypeID, empty where it has none; NULL when it is malformed';

CREATE FUNCTION typeid_check(typeid text) RETURNS boolean
AS 'MODULE_PATHNAME', 'typeid_check'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION typeid_check(text) IS
'true for a TypeID (specification 0.3). Error: 22P02 with the rule that is broken';

/* Codecs: ULID */

CREATE FUNCTION ulid_next() RETURNS uuid
AS 'MODULE_PATHNAME', 'ulid_next'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_next() IS
'next ULID of the server, as uuid: greater than every one before it, in whichever session; time in ms, then 80 bits that start at random in each ms and step by one within it. Errors: 55000 when the clock is outside 2020..2577 or, before PostgreSQL 17, idgen is not preloaded, 2200H when the 80 bits or the time are used up';

CREATE FUNCTION ulid_encode(id uuid) RETURNS text
AS 'MODULE_PATHNAME', 'ulid_encode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_encode(uuid) IS
'the id in 26 upper-case characters of Crockford''s base 32; in byte order (COLLATE "C") they sort as the ids do';

CREATE FUNCTION ulid_decode(ulid text, lenient boolean DEFAULT false)
RETURNS uuid
AS 'MODULE_PATHNAME', 'ulid_decode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_decode(text, boolean) IS
'the id in a ULID, upper or lower case; NULL when it is malformed or above 7ZZZZZZZZZZZZZZZZZZZZZZZZZ. lenient takes I and L as 1, O as 0, and passes over hyphens, as Crockford has it';

CREATE FUNCTION ulid_time(id uuid) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'ulid_time'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_time(uuid) IS
'time in a ULID, to the ms, of any uuid: a ULID has no mark';

CREATE FUNCTION ulid_floor(at timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'ulid_floor'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_floor(timestamptz) IS
'smallest ULID of the ms that holds the time: for range scans and partition bounds. Error: 22008 when the time is outside 1970..10889';

CREATE FUNCTION ulid_ceil(at timestamptz) RETURNS uuid
AS 'MODULE_PATHNAME', 'ulid_ceil'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ulid_ceil(timestamptz) IS
'greatest ULID of the ms that holds the time: for range scans. Error: 22008 when the time is outside 1970..10889';

/* Codecs: KSUID */

CREATE FUNCTION ksuid_next() RETURNS bytea
AS 'MODULE_PATHNAME', 'ksuid_next'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ksuid_next() IS
'a KSUID, 20 bytes: 4 of seconds since 2014-05-13 16:53:20 UTC, 16 random; no order within a second. Error: 55000 when the clock is outside 2014..2150';

CREATE FUNCTION ksuid_encode(id bytea) RETURNS text
AS 'MODULE_PATHNAME', 'ksuid_encode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ksuid_encode(bytea) IS
'a KSUID in 27 characters of base 62; in byte order (COLLATE "C") they sort as the bytes do. Error: 22023 for other than 20 bytes';

CREATE FUNCTION ksuid_decode(ksuid text) RETURNS bytea
AS 'MODULE_PATHNAME', 'ksuid_decode'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ksuid_decode(text) IS
'the 20 bytes of a KSUID; NULL when it is malformed or above aWgEPTl1tmebfsQzFP4bxwgy80V';

CREATE FUNCTION ksuid_time(id bytea) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'ksuid_time'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ksuid_time(bytea) IS
'time in a KSUID, to the second; NULL for other than 20 bytes';

/* Codecs: NanoID */

CREATE FUNCTION nanoid(
    size integer DEFAULT 21,
    alphabet text DEFAULT 'useandom-26T198340PX75pxJACKVERYMINDBUSHWOLF_GQZbfghjklqvwyzrict'
) RETURNS text
AS 'MODULE_PATHNAME', 'nanoid'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION nanoid(integer, text) IS
'random text of size characters, 1 to 65536, of an alphabet of 2 to 256 different characters, each as likely as any other. Error: 22023 for another size or alphabet';

/* Codecs: Sqids. Not STRICT: a NULL blocklist means the specification's. */

CREATE FUNCTION sqids_encode(
    numbers bigint[],
    alphabet text DEFAULT 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
    min_length integer DEFAULT 0,
    blocklist text[] DEFAULT NULL
) RETURNS text
AS 'MODULE_PATHNAME', 'sqids_encode'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;
COMMENT ON FUNCTION sqids_encode(bigint[], text, integer, text[]) IS
'the numbers, at most 10000 and none negative, as one short text without a word of the blocklist (NULL: that of the Sqids specification); no secret, and no order. Errors: 22003 negative, 22004 a NULL in a list, 2202E more than one dimension, 22023 another argument out of range (alphabet: 3 or more ASCII characters, all different; min_length: 0 to 255), 54000 all attempts have blocked words';

CREATE FUNCTION sqids_decode(
    sqid text,
    alphabet text DEFAULT 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
    min_length integer DEFAULT 0,
    blocklist text[] DEFAULT NULL,
    canonical boolean DEFAULT false
) RETURNS bigint[]
AS 'MODULE_PATHNAME', 'sqids_decode'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE;
COMMENT ON FUNCTION sqids_decode(text, text, integer, text[], boolean) IS
'the numbers in a Sqid; NULL when it is malformed or a number is above 2^63 - 1. Several texts decode to the same numbers; canonical takes only the one that sqids_encode() makes of them with the same alphabet, min_length and blocklist, which say nothing otherwise. Errors: 22004, 2202E, 22023 as sqids_encode()';

/* Masks: FF1 of NIST SP 800-38G over AES, radix 2, no tweak */

CREATE FUNCTION id_mask(id bigint, key bytea, bits integer DEFAULT 64)
RETURNS bigint
AS 'MODULE_PATHNAME', 'id_mask'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION id_mask(bigint, bytea, integer) IS
'another number of so many bits, 20 to 64 (53 stays below 2^53; 64 takes and gives negative ones too), that tells nothing of the id but whether two are equal; FF1 of NIST SP 800-38G over AES. Errors: 22003 for an id of more bits, 22023 for other bits, or a key of other than 16, 24 or 32 bytes';

CREATE FUNCTION id_unmask(masked bigint, key bytea, bits integer DEFAULT 64)
RETURNS bigint
AS 'MODULE_PATHNAME', 'id_unmask'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION id_unmask(bigint, bytea, integer) IS
'the id of a mask; NULL for a number of more bits. Any other number is the mask of some id: look whether it is there. Error: 22023 as id_mask()';

CREATE FUNCTION uuid_mask(id uuid, key bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid_mask'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_mask(uuid, bytea) IS
'what looks like a UUIDv4, of a UUIDv7, and tells nothing of it but whether two are equal: its 122 free bits by FF1 of NIST SP 800-38G over AES. Error: 22023 for what is no UUIDv7, or a key of other than 16, 24 or 32 bytes';

CREATE FUNCTION uuid_unmask(masked uuid, key bytea) RETURNS uuid
AS 'MODULE_PATHNAME', 'uuid_unmask'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid_unmask(uuid, bytea) IS
'the UUIDv7 of a mask; NULL for what is no UUIDv4. Any UUIDv4 is the mask of some UUIDv7: look whether it is there. Error: 22023 for a key of other than 16, 24 or 32 bytes';
