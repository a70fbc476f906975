-- Segments: what comes out, what is refused with which SQLSTATE, and the places
-- in which a default is evaluated.
SELECT segment_next('order');
\echo :SQLSTATE
INSERT INTO id_segment (biz_tag) VALUES ('order');
SELECT max_id, step FROM id_segment;
SELECT segment_next('order') FROM generate_series(1, 3);
SELECT max_id FROM id_segment;

-- Bad tags and sizes.
SELECT segment_next('');
\echo :SQLSTATE
SELECT segment_next(repeat('x', 64));
\echo :SQLSTATE
SELECT segment_next(repeat('é', 32));
\echo :SQLSTATE
SELECT segment_next(repeat('x', 63));
\echo :SQLSTATE
SELECT segment_next(NULL) IS NULL AS null_in_null_out,
       segment_alloc(NULL) IS NULL AS alloc_too,
       segment_set(NULL, 1) IS NULL AS set_too,
       segment_set('order', NULL) IS NULL AS and_set_to_null;
SELECT segment_alloc('order', 0);
\echo :SQLSTATE
SELECT segment_alloc('order', -1);
\echo :SQLSTATE
SELECT segment_alloc('', 5);
\echo :SQLSTATE
SELECT segment_alloc(repeat('é', 32));
\echo :SQLSTATE
SELECT segment_alloc('nobody');
\echo :SQLSTATE
SELECT segment_set('order', 0);
\echo :SQLSTATE
SELECT segment_set('order', -9223372036854775808);
\echo :SQLSTATE
SELECT segment_set('', 5);
\echo :SQLSTATE
SELECT segment_set('nobody', 5);
\echo :SQLSTATE
SELECT max_id FROM id_segment;

-- Blocks for a client, of a given size and of the step.
SELECT * FROM segment_alloc('order', 7);
SELECT * FROM segment_alloc('order');
SELECT * FROM segment_alloc('order', NULL);
SELECT * FROM segment_alloc(size => 3, biz_tag => 'order');
SELECT * FROM segment_alloc('order', 2147483647);
SELECT segment_next('order');

-- segment_set(): upward only.
SELECT segment_set('order', 3000000000);
SELECT segment_next('order');
SELECT segment_set('order', 3000000001);
\echo :SQLSTATE
SELECT segment_next('order');

-- What a row may hold.
\set VERBOSITY terse
INSERT INTO id_segment (biz_tag, step) VALUES ('bad', 0);
\echo :SQLSTATE
INSERT INTO id_segment (biz_tag, step) VALUES ('bad', -1);
\echo :SQLSTATE
INSERT INTO id_segment (biz_tag, step) VALUES ('bad', 1000000001);
\echo :SQLSTATE
INSERT INTO id_segment (biz_tag, max_id) VALUES ('bad', -1);
\echo :SQLSTATE
INSERT INTO id_segment (biz_tag) VALUES (repeat('x', 64));
\echo :SQLSTATE
UPDATE id_segment SET step = 0 WHERE biz_tag = 'order';
\echo :SQLSTATE
\set VERBOSITY default
DO $$
BEGIN
    UPDATE id_segment SET max_id = NULL WHERE biz_tag = 'order';
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'max_id NULL: %', SQLSTATE;
END $$;
DO $$
BEGIN
    UPDATE id_segment SET biz_tag = NULL WHERE biz_tag = 'order';
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'biz_tag NULL: %', SQLSTATE;
END $$;
INSERT INTO id_segment (biz_tag, step) VALUES ('order', 1000)
ON CONFLICT (biz_tag) DO UPDATE SET step = excluded.step;
SELECT segment_next('order');
INSERT INTO id_segment (biz_tag, step) VALUES ('huge', 1000000000);
SELECT segment_next('huge');
SELECT max_id FROM id_segment WHERE biz_tag = 'huge';

-- The last numbers below 2^63 do come, and then an error.
INSERT INTO id_segment (biz_tag, max_id) VALUES ('end', 9223372036854775804);
SELECT segment_alloc('end', 4);
\echo :SQLSTATE
SELECT segment_next('end') FROM generate_series(1, 3);
SELECT segment_next('end');
\echo :SQLSTATE
SELECT segment_alloc('end', 1);
\echo :SQLSTATE
SELECT max_id FROM id_segment WHERE biz_tag = 'end';
SELECT segment_set('end', 9223372036854775807);
\echo :SQLSTATE
INSERT INTO id_segment (biz_tag) VALUES ('last');
SELECT segment_set('last', 9223372036854775807);
SELECT segment_next('last');
SELECT segment_next('last');
\echo :SQLSTATE

-- max_id does not go down; where a subscription would lower it, it stays.
UPDATE id_segment SET max_id = 1 WHERE biz_tag = 'huge';
\echo :SQLSTATE
BEGIN;
SET LOCAL session_replication_role = replica;
UPDATE id_segment SET max_id = 1, step = 7 WHERE biz_tag = 'huge';
COMMIT;
SELECT max_id, step FROM id_segment WHERE biz_tag = 'huge';

-- In a transaction that sets it and rolls back, it is set all the same.
INSERT INTO id_segment (biz_tag, step) VALUES ('set', 10);
BEGIN;
SELECT segment_set('set', 100);
ROLLBACK;
SELECT segment_next('set');
SELECT max_id FROM id_segment WHERE biz_tag = 'set';

-- What is done to the table as a whole keeps the numbers in shared memory.
VACUUM FULL id_segment;
SELECT segment_next('set');
ALTER TABLE id_segment ADD note text;
SELECT segment_next('set');
ALTER TABLE id_segment DROP note;
SELECT segment_next('set');
-- A change that is rolled back does so too.
BEGIN;
UPDATE id_segment SET max_id = 500 WHERE biz_tag = 'set';
ROLLBACK;
SELECT segment_next('set');
-- Another incarnation, made by hand, does not.
UPDATE id_segment SET incarnation = gen_random_uuid() WHERE biz_tag = 'set';
SELECT segment_next('set') > 109 AS above;

-- Raised by hand: what was cached is given up.
UPDATE id_segment SET max_id = 5000000000 WHERE biz_tag = 'huge';
SELECT segment_next('huge');

-- Another tag is another incarnation, and so is a row made anew.
CREATE TEMP TABLE incarnation AS
SELECT incarnation AS was FROM id_segment WHERE biz_tag = 'huge';
UPDATE id_segment SET biz_tag = 'huger' WHERE biz_tag = 'huge';
SELECT incarnation <> was AS another FROM id_segment, incarnation
WHERE biz_tag = 'huger';
SELECT segment_next('huge');
\echo :SQLSTATE
DELETE FROM id_segment WHERE biz_tag = 'huger';
SELECT segment_next('huger');
\echo :SQLSTATE
INSERT INTO id_segment (biz_tag, step) VALUES ('huger', 10);
SELECT segment_next('huger') FROM generate_series(1, 2);
SELECT count(*) FROM segment_overlap;
TRUNCATE id_segment;
SELECT segment_next('huger');
\echo :SQLSTATE

-- A row that is not committed, a row or table that this transaction locks.
BEGIN;
INSERT INTO id_segment (biz_tag, step) VALUES ('own', 2);
SELECT segment_next('own');
\echo :SQLSTATE
ROLLBACK;
INSERT INTO id_segment (biz_tag, step) VALUES ('own', 2);
BEGIN;
SELECT step FROM id_segment WHERE biz_tag = 'own' FOR UPDATE;
SELECT segment_next('own');
\echo :SQLSTATE
ROLLBACK;
BEGIN;
LOCK TABLE id_segment IN SHARE MODE;
SELECT segment_next('own');
\echo :SQLSTATE
ROLLBACK;
-- A foreign key's lock is no hindrance.
BEGIN;
SELECT step FROM id_segment WHERE biz_tag = 'own' FOR KEY SHARE;
SELECT segment_next('own');
ROLLBACK;
BEGIN READ ONLY;
SELECT segment_next('own');
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT segment_alloc('own');
\echo :SQLSTATE
ROLLBACK;

-- The tag need not be a constant.
INSERT INTO id_segment (biz_tag, step) VALUES ('a', 10), ('b', 10), ('c', 10);
SELECT tag, segment_next(tag) FROM generate_series(1, 3) AS n, unnest('{a,b,c}'::text[]) AS tag
ORDER BY n, tag;

-- Unknown tags are caught by SQLSTATE; PL/pgSQL has no name for it.
DO $$
BEGIN
    PERFORM segment_next('nobody');
EXCEPTION WHEN SQLSTATE '02000' THEN
    RAISE NOTICE 'no such tag';
END $$;

-- Defaults, wherever they are evaluated.
INSERT INTO id_segment (biz_tag, step) VALUES ('row', 100);
CREATE TABLE item (id bigint DEFAULT segment_next('row') PRIMARY KEY, n int UNIQUE);
INSERT INTO item (n) VALUES (1), (2);
INSERT INTO item (n) SELECT generate_series(3, 300);
COPY item (n) FROM stdin;
301
302
\.
INSERT INTO item (n) VALUES (302), (303) ON CONFLICT (n) DO NOTHING;
MERGE INTO item USING (VALUES (303), (304)) AS v (n) ON item.n = v.n
WHEN NOT MATCHED THEN INSERT (n) VALUES (v.n);
PREPARE add_item(int) AS INSERT INTO item (n) VALUES ($1);
EXECUTE add_item(305);
EXECUTE add_item(306);
CREATE FUNCTION add_item(int) RETURNS void LANGUAGE sql AS 'INSERT INTO item (n) VALUES ($1)';
SELECT add_item(307);
SELECT count(*), count(DISTINCT id), min(id) FROM item;
SELECT bool_and(id > previous) AS rising
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM item) s;
CREATE TABLE part (id bigint DEFAULT segment_next('row'), n int) PARTITION BY RANGE (n);
CREATE TABLE part_low PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE part_high PARTITION OF part FOR VALUES FROM (10) TO (20);
INSERT INTO part (n) VALUES (1), (11), (2);
SELECT count(DISTINCT id) FROM part;
DROP TABLE item, part;
DROP FUNCTION add_item(int);

-- One tag whose update a trigger of the owner's refuses; others go on.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.biz_tag = 'a' THEN
        RAISE 'refused' USING ERRCODE = 'check_violation', HINT = 'Ask for b.';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE UPDATE ON id_segment
FOR EACH ROW EXECUTE FUNCTION refuse();
UPDATE id_segment SET max_id = max_id + 5 WHERE biz_tag IN ('b', 'c');
SELECT segment_next('b');
SELECT segment_alloc('a');
\echo :SQLSTATE
SELECT segment_next('c');
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN NEW.biz_tag := ''x''; RETURN NEW; END';
SELECT segment_alloc('a');
\echo :SQLSTATE
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN PERFORM public.segment_next(''c''); RETURN NEW; END';
SELECT segment_alloc('a');
\echo :SQLSTATE
-- One that lowers it after the guard has let it through.
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN NEW.max_id := 0; RETURN NEW; END';
ALTER TRIGGER refuse ON id_segment RENAME TO zz_refuse;
UPDATE id_segment SET max_id = max_id + 1 WHERE biz_tag = 'a';
\echo :SQLSTATE
ALTER TRIGGER zz_refuse ON id_segment RENAME TO refuse;
DROP TRIGGER refuse ON id_segment;
SELECT segment_alloc('a');
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.max_id := NEW.max_id + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE UPDATE ON id_segment
FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT segment_alloc('a');
\echo :SQLSTATE
CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RETURN NULL; END';
SELECT segment_alloc('a');
\echo :SQLSTATE
DROP TRIGGER refuse ON id_segment;
DROP FUNCTION refuse();
SELECT segment_alloc('a');

-- An owner who drops the CHECK gets an error for it.
BEGIN;
ALTER TABLE id_segment DROP CONSTRAINT id_segment_step_check;
UPDATE id_segment SET step = 0 WHERE biz_tag = 'a';
COMMIT;
SELECT segment_alloc('a');
\echo :SQLSTATE
UPDATE id_segment SET step = 10 WHERE biz_tag = 'a';
ALTER TABLE id_segment ADD CONSTRAINT id_segment_step_check CHECK (step BETWEEN 1 AND 1000000000);

-- The log, and the view that finds what must not be.
SELECT count(*) > 0 AS logged FROM segment_log;
SELECT count(*) FROM segment_overlap;
INSERT INTO segment_log (biz_tag, incarnation, start_id, end_id, proc)
SELECT biz_tag, incarnation, start_id + 1, end_id, 'negative'
FROM segment_log WHERE biz_tag = 'row' AND start_id = 1;
SELECT biz_tag, start_id, taken_to FROM segment_overlap;
DELETE FROM segment_log WHERE proc = 'negative';
SELECT count(*) FROM segment_overlap;

-- The view of what is in shared memory.
SELECT biz_tag, block_start, block_end, next_id, step, issued, blocks, last_error
FROM segment_status WHERE biz_tag IN ('own', 'c') ORDER BY biz_tag;

-- Numbers of blocks that were given up do not count as issued.
INSERT INTO id_segment (biz_tag, step) VALUES ('count', 10);
SELECT count(segment_next('count')) FROM generate_series(1, 6);
DO $$
BEGIN
    FOR attempt IN 1..6000 LOOP
        IF (SELECT next_block_start FROM segment_status WHERE biz_tag = 'count') IS NOT NULL THEN
            RETURN;
        END IF;
        PERFORM pg_sleep(0.01);
    END LOOP;
    RAISE 'no prefetch in a minute';
END $$;
SELECT segment_set('count', 1000);
SELECT segment_next('count');
SELECT issued, blocks FROM segment_status WHERE biz_tag = 'count';

-- A trigger is not to be called.
SELECT id_segment_guard();
\echo :SQLSTATE
DELETE FROM id_segment;

-- Another relation of that name, or a table that its owner has changed, is neither
-- read nor waited for.
INSERT INTO id_segment (biz_tag) VALUES ('odd');
ALTER TABLE id_segment RENAME TO put_aside;
SELECT segment_next('odd');
\echo :SQLSTATE
CREATE VIEW id_segment AS SELECT 1 AS biz_tag;
SELECT segment_next('nobody');
\echo :SQLSTATE
DROP VIEW id_segment;
CREATE TABLE id_segment (biz_tag int, max_id int);
INSERT INTO id_segment VALUES (1, 1);
SELECT segment_next('nobody');
\echo :SQLSTATE
DROP TABLE id_segment;
ALTER TABLE put_aside RENAME TO id_segment;
SELECT segment_next('odd');
BEGIN;
ALTER TABLE id_segment DROP CONSTRAINT id_segment_pkey;
SELECT segment_next('nobody');
\echo :SQLSTATE
ROLLBACK;
BEGIN;
ALTER TABLE id_segment ALTER incarnation TYPE text;
UPDATE id_segment SET step = 5;
\echo :SQLSTATE
ROLLBACK;
SELECT segment_next('odd');
DELETE FROM id_segment;
