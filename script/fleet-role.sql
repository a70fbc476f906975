-- fleet-role.sql: make the role with which other servers use this database as
-- their coordinator. It can log in and call three functions, and nothing else.
--
--   psql -d DATABASE -v role=idgen_fleet -f fleet-role.sql
--
-- How it proves who it is, a password or a certificate, is for pg_hba.conf.
\set ON_ERROR_STOP on
SELECT n.nspname AS idgen_schema FROM pg_catalog.pg_extension e
JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname = 'idgen' \gset

CREATE ROLE :"role" LOGIN;
GRANT USAGE ON SCHEMA :"idgen_schema" TO :"role";
GRANT EXECUTE ON FUNCTION
    :"idgen_schema".coordinator_reserve(text[], text[], bigint[], text),
    :"idgen_schema".coordinator_lease(text, uuid, text, integer, bigint, bigint, bigint),
    :"idgen_schema".coordinator_prune()
TO :"role";
