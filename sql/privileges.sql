-- What an ordinary role may do: issue and read, but not touch the clock.
CREATE ROLE regress_idgen_user;
SET ROLE regress_idgen_user;
SELECT uuidv7_mono() < uuidv7_mono() AS rises;
SELECT count(*) FROM uuidv7_status;
SELECT uuidv7_accept_clock();
\echo :SQLSTATE
SELECT idgen_shift_clock('1 hour');
\echo :SQLSTATE
RESET ROLE;

-- Even a grant does not open what only a superuser may do.
GRANT EXECUTE ON FUNCTION uuidv7_accept_clock(), idgen_shift_clock(interval)
TO regress_idgen_user;
SET ROLE regress_idgen_user;
SELECT uuidv7_accept_clock();
\echo :SQLSTATE
SELECT idgen_shift_clock('1 hour');
\echo :SQLSTATE
RESET ROLE;

-- Ids are to be had in a read-only transaction too.
BEGIN READ ONLY;
SELECT uuidv7_mono() < uuidv7_mono() AS rises;
COMMIT;
REVOKE ALL ON FUNCTION uuidv7_accept_clock(), idgen_shift_clock(interval)
FROM regress_idgen_user;
DROP ROLE regress_idgen_user;

-- Segments: EXECUTE is all that it takes, and PUBLIC does not have it.
CREATE ROLE regress_idgen_user;
INSERT INTO id_segment (biz_tag) VALUES ('private');
SET ROLE regress_idgen_user;
SELECT segment_next('private');
\echo :SQLSTATE
SELECT segment_alloc('private');
\echo :SQLSTATE
SELECT segment_set('private', 100);
\echo :SQLSTATE
SELECT count(*) FROM segment_status;
\echo :SQLSTATE
RESET ROLE;
GRANT EXECUTE ON FUNCTION segment_next(text), segment_alloc(text, int)
TO regress_idgen_user;
SET ROLE regress_idgen_user;
SELECT segment_next('private');
SELECT * FROM segment_alloc('private', 10);
INSERT INTO id_segment (biz_tag) VALUES ('mine');
\echo :SQLSTATE
UPDATE id_segment SET step = 1;
\echo :SQLSTATE
DELETE FROM id_segment;
\echo :SQLSTATE
DELETE FROM segment_log;
\echo :SQLSTATE
SELECT segment_set('private', 5000);
\echo :SQLSTATE
-- Everyone may read the tables, to dump them.
SELECT count(*) FROM id_segment;
SELECT count(*) > 0 AS logged FROM segment_log;
SELECT count(*) FROM segment_overlap;
-- Not the functions behind the views, and no trigger of his own.
SELECT count(*) FROM segment_status();
\echo :SQLSTATE
CREATE TEMP TABLE id_segment (biz_tag text, max_id bigint);
CREATE TRIGGER mine BEFORE UPDATE ON id_segment FOR EACH ROW EXECUTE FUNCTION id_segment_guard();
\echo :SQLSTATE
-- A table of that name that comes before does not lead anyone astray.
INSERT INTO id_segment VALUES ('private', 77);
SELECT segment_next('private');
DROP TABLE pg_temp.id_segment;
RESET ROLE;
-- Not even the right to read is needed.
REVOKE SELECT ON id_segment, segment_log FROM PUBLIC;
GRANT EXECUTE ON FUNCTION segment_set(text, bigint) TO regress_idgen_user;
SET ROLE regress_idgen_user;
SELECT count(*) FROM id_segment;
\echo :SQLSTATE
SELECT segment_next('private');
SELECT segment_set('private', 5000);
SELECT segment_next('private');
SELECT * FROM segment_alloc('private', 10);
SELECT segment_next('nobody');
\echo :SQLSTATE
RESET ROLE;
GRANT SELECT ON id_segment, segment_log TO PUBLIC;
-- In a default the one who inserts needs the right.
CREATE ROLE regress_idgen_other;
CREATE TABLE item (id bigint DEFAULT segment_next('private'), n int);
GRANT INSERT ON item TO regress_idgen_user, regress_idgen_other;
SET ROLE regress_idgen_user;
INSERT INTO item (n) VALUES (1);
RESET ROLE;
SET ROLE regress_idgen_other;
INSERT INTO item (n) VALUES (2);
\echo :SQLSTATE
RESET ROLE;
DROP TABLE item;
DROP ROLE regress_idgen_other;
GRANT pg_monitor TO regress_idgen_user;
SET ROLE regress_idgen_user;
SELECT biz_tag, issued FROM segment_status WHERE biz_tag = 'private';
RESET ROLE;
DROP OWNED BY regress_idgen_user;
DROP ROLE regress_idgen_user;
DELETE FROM id_segment;
