-- A session that keeps the worker from a row or a table itself is told so at once,
-- whatever it did to it, and nothing stays behind when it lets go.
CREATE FUNCTION ask(tag text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    RETURN (segment_alloc(tag, 1)).start_id;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN SQLSTATE || ': ' || regexp_replace(detail, '\d+', 'PID', 'g');
END $$;
INSERT INTO id_segment (biz_tag) VALUES ('own'), ('other');

-- Locks on the row.
BEGIN;
SELECT step FROM id_segment WHERE biz_tag = 'own' FOR KEY SHARE;
SELECT ask('own');
SELECT step FROM id_segment WHERE biz_tag = 'own' FOR SHARE;
SELECT ask('own');
SELECT step FROM id_segment WHERE biz_tag = 'own' FOR NO KEY UPDATE;
SELECT ask('own'), ask('other');
ROLLBACK;
SELECT ask('own');
-- ... in a subtransaction that goes on, and in one that does not.
BEGIN;
SELECT step FROM id_segment WHERE biz_tag = 'own' FOR KEY SHARE;
SAVEPOINT s;
SELECT step FROM id_segment WHERE biz_tag = 'own' FOR UPDATE;
SELECT ask('own');
ROLLBACK TO s;
SELECT ask('own');
SAVEPOINT s;
UPDATE id_segment SET step = 7 WHERE biz_tag = 'own';
RELEASE s;
SELECT ask('own');
ROLLBACK;
SELECT ask('own');

-- Changes of the row.
BEGIN;
UPDATE id_segment SET max_id = 100 WHERE biz_tag = 'own';
SELECT ask('own');
ROLLBACK;
BEGIN;
DELETE FROM id_segment WHERE biz_tag = 'own';
SELECT ask('own'), ask('other');
ROLLBACK;
SELECT ask('own');
BEGIN;
UPDATE id_segment SET biz_tag = 'renamed' WHERE biz_tag = 'own';
SELECT ask('own');
SELECT ask('renamed');
ROLLBACK;
SELECT ask('own');
BEGIN;
DELETE FROM id_segment WHERE biz_tag = 'own';
INSERT INTO id_segment (biz_tag, max_id) VALUES ('own', 500);
SELECT ask('own');
COMMIT;
SELECT ask('own');
BEGIN;
INSERT INTO id_segment (biz_tag) VALUES ('new');
SAVEPOINT s;
SELECT ask('new');
ROLLBACK;
SELECT ask('new');

-- Locks on the tables.
BEGIN;
LOCK TABLE id_segment IN SHARE ROW EXCLUSIVE MODE;
SELECT ask('own');
ROLLBACK;
BEGIN;
LOCK TABLE id_segment IN ACCESS EXCLUSIVE MODE;
SELECT ask('own');
ROLLBACK;
BEGIN;
LOCK TABLE id_segment IN ROW EXCLUSIVE MODE;
SELECT ask('own');
ROLLBACK;
BEGIN;
TRUNCATE id_segment;
SELECT ask('own');
ROLLBACK;
SELECT ask('own');
BEGIN;
ALTER TABLE id_segment ADD note text;
SELECT ask('own');
ROLLBACK;
BEGIN;
LOCK TABLE segment_log IN SHARE MODE;
SELECT ask('own');
ROLLBACK;
SELECT ask('own');
BEGIN;
DROP EXTENSION idgen;
CREATE EXTENSION idgen;
INSERT INTO id_segment (biz_tag) VALUES ('own');
SELECT ask('own');
ROLLBACK;
SELECT ask('own');

DROP FUNCTION ask(text);
DELETE FROM id_segment;
