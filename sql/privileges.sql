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
RESET ROLE;
GRANT pg_monitor TO regress_idgen_user;
SET ROLE regress_idgen_user;
SELECT biz_tag, issued FROM segment_status WHERE biz_tag = 'private';
RESET ROLE;
DROP OWNED BY regress_idgen_user;
DROP ROLE regress_idgen_user;
DELETE FROM id_segment;
