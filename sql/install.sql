-- Where CREATE EXTENSION puts things, and that what it puts there works from
-- any search_path.
CREATE SCHEMA "a""b'c$d";
CREATE EXTENSION idgen SCHEMA "a""b'c$d";
SELECT count(*) FROM "a""b'c$d".uuidv7_status;
DROP EXTENSION idgen;
DROP SCHEMA "a""b'c$d";
CREATE SCHEMA ids;
CREATE EXTENSION idgen SCHEMA ids;
SELECT nspname AS schema, extversion AS version, extrelocatable AS relocatable
FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
WHERE extname = 'idgen';
SET search_path = pg_temp;
SELECT ids.uuidv7_time(ids.uuidv7_mono()) IS NOT NULL AS works;
SELECT count(*) FROM ids.uuidv7_status;
RESET search_path;
SELECT to_regprocedure('uuidv7_mono()') IS NULL AS not_in_public;
DROP EXTENSION idgen;
DROP SCHEMA ids;

-- Without SCHEMA it is the first schema of search_path.
CREATE EXTENSION idgen;
SELECT nspname AS schema
FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
WHERE extname = 'idgen';
SELECT uuidv7_mono() < uuidv7_mono() AS rises;

-- A name that looks like a setting and is none is refused.
SET idgen.nodeid = 'x';
\echo :SQLSTATE
