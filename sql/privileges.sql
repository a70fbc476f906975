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
