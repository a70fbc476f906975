-- NanoID: sizes and alphabets, and those that are refused.
SELECT id ~ '^[A-Za-z0-9_-]{21}$' AS matches FROM nanoid() AS id;
SELECT size, length(nanoid(size))
FROM (VALUES (1), (8), (9), (10), (21), (255), (65536)) AS v (size);
SELECT nanoid(40, '01') ~ '^[01]{40}$' AS bits,
       length(nanoid(1000, '0123456789')::numeric(1000)::text) > 900 AS digits,
       nanoid(alphabet => 'ab') ~ '^[ab]{21}$' AS named;
SELECT count(DISTINCT nanoid()) FROM generate_series(1, 1000);

-- More than 62 characters, of one byte each.
CREATE FUNCTION bytes() RETURNS text LANGUAGE sql AS
$$SELECT string_agg(chr(n), '' ORDER BY n) FROM generate_series(1, 127) AS n$$;
SELECT length(bytes()), length(nanoid(500, bytes()));

SELECT nanoid(0);
\echo :SQLSTATE
SELECT nanoid(-1);
\echo :SQLSTATE
SELECT nanoid(65537);
\echo :SQLSTATE
SELECT nanoid(2147483647);
\echo :SQLSTATE
SELECT nanoid(-2147483648);
\echo :SQLSTATE
SELECT nanoid(21, '');
\echo :SQLSTATE
SELECT nanoid(21, 'a');
\echo :SQLSTATE
SELECT nanoid(21, 'abca');
\echo :SQLSTATE
SELECT nanoid(21, repeat('a', 1000000));
\echo :SQLSTATE
SELECT nanoid(NULL) IS NULL AND nanoid(21, NULL) IS NULL AS all_null;
DROP FUNCTION bytes;
