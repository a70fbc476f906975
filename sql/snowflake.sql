-- Snowflake ids: decoders against published values, bounds, the layout, the lease.

-- Discord's documentation has this one; Twitter's epoch is the other well-known.
SELECT snowflake_time(175928847299117063, 1420070400000) AT TIME ZONE 'UTC' AS time,
       snowflake_node(175928847299117063, 1420070400000) AS node,
       snowflake_sequence(175928847299117063, 1420070400000) AS sequence;
SELECT snowflake_time(1541815603606036480, 1288834974657) AT TIME ZONE 'UTC' AS time,
       snowflake_node(1541815603606036480, 1288834974657) AS node,
       snowflake_sequence(1541815603606036480, 1288834974657) AS sequence;
-- The built-in layout, and one below 2^53.
SELECT snowflake_time(0) AT TIME ZONE 'UTC' AS epoch, snowflake_time(9223372036854775807) AT TIME ZONE 'UTC' AS last,
       snowflake_node(9223372036854775807) AS node, snowflake_sequence(9223372036854775807) AS sequence;
SELECT snowflake_floor('2024-01-01 00:00:00.001+00') = 1 << 22 AS floor_of_1,
       snowflake_ceil('2024-01-01 00:00:00.001999+00') = (2 << 22) - 1 AS ceil_of_1,
       snowflake_ceil('2093-09-06 15:47:35.551999+00') = 9223372036854775807 AS greatest;
SELECT snowflake_ceil('2093-09-06 15:47:35.551+00', 1704067200000, 3, 9) = 9007199254740991 AS below_2_53,
       snowflake_time(9007199254740991, 1704067200000, 3, 9) = '2093-09-06 15:47:35.551+00' AS its_time,
       snowflake_node(9007199254740991, 1704067200000, 3, 9) AS node,
       snowflake_sequence(9007199254740991, 1704067200000, 3, 9) AS sequence;
-- What is no id of the layout has no fields.
SELECT snowflake_time(-1) IS NULL, snowflake_node(-1) IS NULL, snowflake_sequence(-1) IS NULL,
       snowflake_time(9007199254740992, 1704067200000, 3, 9) IS NULL, snowflake_time(NULL) IS NULL;
SELECT snowflake_floor('2023-12-31 23:59:59.999999+00');
\echo :SQLSTATE
SELECT snowflake_ceil('2093-09-06 15:47:35.552+00');
\echo :SQLSTATE
SELECT snowflake_floor('infinity');
\echo :SQLSTATE
SELECT snowflake_time(1, -8796093022209);
\echo :SQLSTATE
SELECT snowflake_node(1, 0, 17, 5);
\echo :SQLSTATE
SELECT snowflake_sequence(1, 0, 12, 12);
\echo :SQLSTATE
SELECT snowflake_ceil('2024-01-01 00:00+00', 0, 5, 0);
\echo :SQLSTATE
-- They can be indexed, and prune partitions.
CREATE TABLE event (id bigint PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE event_2025 PARTITION OF event
FOR VALUES FROM (snowflake_floor('2025-01-01 00:00+00')) TO (snowflake_floor('2026-01-01 00:00+00'));
CREATE TABLE event_2026 PARTITION OF event
FOR VALUES FROM (snowflake_floor('2026-01-01 00:00+00')) TO (snowflake_floor('2027-01-01 00:00+00'));
EXPLAIN (COSTS off) SELECT * FROM event
WHERE id BETWEEN snowflake_floor('2026-03-01 00:00+00') AND snowflake_ceil('2026-03-02 00:00+00');
CREATE INDEX ON event_2025 (snowflake_time(id));
DROP TABLE event;

-- The layout can be changed until the first lease.
SELECT count(*) FROM snowflake_layout;
SELECT node, leased, epoch_ms FROM snowflake_status;
INSERT INTO snowflake_layout (node_bits, sequence_bits) VALUES (12, 11);
INSERT INTO snowflake_layout (ttl_ms) VALUES (999);
INSERT INTO snowflake_layout (node_bits, sequence_bits) VALUES (5, 10);
INSERT INTO snowflake_layout DEFAULT VALUES;
UPDATE snowflake_layout SET node_bits = 10, sequence_bits = 12;
DELETE FROM snowflake_layout;
-- Locked, it is waited for.
BEGIN;
INSERT INTO snowflake_layout DEFAULT VALUES;
SET idgen.timeout = '200ms';
SELECT snowflake_next();
\echo :SQLSTATE
ROLLBACK;
RESET idgen.timeout;

-- The first call gets its lease by itself.
CREATE TABLE item (n serial, id bigint DEFAULT snowflake_next() PRIMARY KEY);
INSERT INTO item (n) SELECT generate_series(1, 5000);
SELECT count(DISTINCT id) AS ids, count(DISTINCT snowflake_node(id)) AS nodes,
       bool_and(snowflake_time(id) BETWEEN now() - interval '1 minute' AND clock_timestamp()) AS now,
       count(*) FILTER (WHERE id <= previous) AS not_rising
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM item) s;
SELECT s.node = l.node_id AS node, s.holder = l.holder AS holder, s.epoch = l.epoch AS epoch,
       s.leased_until = l.leased_until AS until, leased, refusals, days_left > 20000 AS days,
       s.epoch_ms, s.node_bits, s.sequence_bits
FROM snowflake_status s, node_lease l;
SELECT one_row, epoch_ms, node_bits, sequence_bits, ttl_ms, system_id IS NOT NULL AS used FROM snowflake_layout;
-- A rollback leaves a gap, and a read-only transaction may take ids.
BEGIN;
SELECT snowflake_next() AS before \gset
ROLLBACK;
BEGIN READ ONLY;
SELECT snowflake_next() > :before AS later;
COMMIT;
SELECT id FROM item WHERE id = snowflake_next();

-- From now on the layout is final, and the leases are the worker's alone.
UPDATE snowflake_layout SET sequence_bits = 11;
\echo :SQLSTATE
DELETE FROM snowflake_layout;
\echo :SQLSTATE
TRUNCATE snowflake_layout;
\echo :SQLSTATE
UPDATE node_lease SET leased_until = now();
\echo :SQLSTATE
DELETE FROM node_lease;
\echo :SQLSTATE
TRUNCATE node_lease;
\echo :SQLSTATE
-- What replication brings is left out in silence.
BEGIN;
SET LOCAL session_replication_role = replica;
UPDATE node_lease SET leased_until = '-infinity';
DELETE FROM snowflake_layout;
INSERT INTO node_lease VALUES (77, NULL, NULL, 1, now(), now());
COMMIT;
SELECT count(*), min(leased_until) > now() AS good FROM node_lease;
-- Triggers are not to be called; and who may do what.
SELECT snowflake_guard();
\echo :SQLSTATE
CREATE ROLE regress_idgen_snow;
GRANT SELECT, INSERT ON item TO regress_idgen_snow;
SET ROLE regress_idgen_snow;
INSERT INTO item (n) VALUES (5001);
SELECT snowflake_accept_clock();
\echo :SQLSTATE
SELECT idgen_stop_in_next_call();
\echo :SQLSTATE
SELECT count(*) FROM snowflake_status;
\echo :SQLSTATE
UPDATE node_lease SET leased_until = now();
\echo :SQLSTATE
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_accept_clock(), idgen_stop_in_next_call() TO regress_idgen_snow;
SET ROLE regress_idgen_snow;
SELECT snowflake_accept_clock();
\echo :SQLSTATE
SELECT idgen_stop_in_next_call();
\echo :SQLSTATE
RESET ROLE;
DROP TABLE item;
DROP OWNED BY regress_idgen_snow;
DROP ROLE regress_idgen_snow;

-- A parallel plan.
CREATE TABLE wide AS SELECT generate_series(1, 20000) AS n;
ALTER TABLE wide SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) SELECT count(DISTINCT snowflake_next()) FROM wide;
SELECT count(DISTINCT id) FROM (SELECT snowflake_next() AS id FROM wide) s;
DROP TABLE wide;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
