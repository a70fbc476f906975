-- What the planner makes of the functions: generators are called for every row,
-- bounds are folded to constants that an index and partitions can use.
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE item (id uuid PRIMARY KEY DEFAULT uuidv7_mono(), n int);
INSERT INTO item (n) SELECT generate_series(1, 1000);
INSERT INTO item SELECT uuidv7_mono(), n FROM generate_series(1001, 2000) AS n;
INSERT INTO item SELECT uuidv7_at('2024-03-01'), n FROM generate_series(2001, 3000) AS n;
SELECT count(DISTINCT id) FROM item;
-- Defaults are evaluated in the order of the rows.
SELECT bool_and(id > previous) AS rising
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous
      FROM item WHERE n <= 2000) s;

SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
SELECT count(*) FROM item
WHERE id BETWEEN uuidv7_floor('2024-03-01') AND uuidv7_ceil('2024-03-01');
SELECT count(*) FROM item
WHERE id BETWEEN uuidv7_floor('2024-03-01') AND uuidv7_ceil('2024-03-01');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Native range partitions by time of id.
CREATE TABLE event (id uuid DEFAULT uuidv7_mono() PRIMARY KEY, n int)
PARTITION BY RANGE (id);
CREATE TABLE event_2024 PARTITION OF event
FOR VALUES FROM (uuidv7_floor('2024-01-01')) TO (uuidv7_floor('2025-01-01'));
CREATE TABLE event_2025 PARTITION OF event
FOR VALUES FROM (uuidv7_floor('2025-01-01')) TO (uuidv7_floor('2026-01-01'));
CREATE TABLE event_later PARTITION OF event DEFAULT;
INSERT INTO event (id, n) VALUES
    (uuidv7_at('2024-01-01 00:00:00'), 1),
    (uuidv7_at('2024-12-31 23:59:59.999999'), 2),
    (uuidv7_at('2025-01-01 00:00:00'), 3);
INSERT INTO event (n) VALUES (4);
SELECT tableoid::regclass AS partition, n FROM event ORDER BY n;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF)
SELECT n FROM event
WHERE id >= uuidv7_floor('2024-06-01') AND id < uuidv7_floor('2024-07-01');
EXPLAIN (COSTS OFF)
SELECT n FROM event
WHERE id BETWEEN uuidv7_floor('2024-12-31') AND uuidv7_ceil('2025-01-01');

-- Decoders and bounds can be indexed.
CREATE INDEX ON item (uuidv7_time(id));
CREATE TABLE dated (id uuid, created timestamptz
                    GENERATED ALWAYS AS (uuidv7_time(id)) STORED);
INSERT INTO dated VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
SELECT created FROM dated;
-- ... and generators cannot.
DO $$
BEGIN
    CREATE INDEX ON item (uuidv7_at('2024-01-01'));
EXCEPTION WHEN invalid_object_definition THEN
    RAISE NOTICE 'refused: %', SQLSTATE;
END $$;
DROP TABLE item, event, dated;
