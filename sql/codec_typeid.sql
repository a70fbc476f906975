-- Base 32 and TypeID: published values both ways, what is refused and how.
\getenv top PG_ABS_SRCDIR
\set file :top '/test/vectors/typeid.tsv'
CREATE TABLE vector (typeid text, prefix text, id uuid);
COPY vector FROM :'file' WITH (HEADER, ENCODING 'SQL_ASCII');

-- No row: each value and each refusal is as the file has it.
SELECT * FROM vector
WHERE typeid_decode(typeid, coalesce(prefix, '')) IS DISTINCT FROM id
   OR typeid_prefix(typeid) IS DISTINCT FROM prefix
   OR typeid_encode(prefix, id) <> typeid;
SELECT count(*), count(id) AS valid FROM vector;

-- ... nor do the refused ones decode with the prefix that they seem to have.
SELECT count(*) FROM vector
WHERE id IS NULL AND
      typeid_decode(typeid, regexp_replace(typeid, '_[^_]*$', '')) IS NOT NULL;

-- A prefix of another type, a longer and a shorter one.
SELECT typeid_decode('prefix_01h455vb4pex5vsknk084sn02q', 'prefiy') IS NULL AS other,
       typeid_decode('prefix_01h455vb4pex5vsknk084sn02q', 'prefixx') IS NULL AS longer,
       typeid_decode('prefix_01h455vb4pex5vsknk084sn02q', 'prefi') IS NULL AS shorter,
       typeid_decode('prefix_01h455vb4pex5vsknk084sn02q', 'prefix_') IS NULL AS separated,
       typeid_decode('prefix_01h455vb4pex5vsknk084sn02q', '') IS NULL AS none;

-- The reason, with its SQLSTATE.
SELECT typeid_check(typeid) FROM vector WHERE id IS NOT NULL GROUP BY 1;
CREATE FUNCTION reason(typeid text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text;
BEGIN
    RETURN typeid_check(typeid);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN SQLSTATE || ': ' || detail;
END $$;
SELECT reason, count(*) FROM vector, reason(typeid) GROUP BY 1 ORDER BY reason COLLATE "C";
SELECT typeid_check('Prefix_01h455vb4pex5vsknk084sn02q');
\echo :SQLSTATE
SELECT typeid_check(repeat('x', 1000000));
\echo :SQLSTATE
CREATE TABLE checked (id text CHECK (typeid_check(id)));
INSERT INTO checked VALUES ('prefix_01h455vb4pex5vsknk084sn02q');
INSERT INTO checked VALUES ('prefix_81h455vb4pex5vsknk084sn02q');
\echo :SQLSTATE

-- Prefixes that no TypeID has.
SELECT typeid_encode('Prefix', '01890a5d-ac96-774b-bcce-b302099a8057');
\echo :SQLSTATE
SELECT typeid_encode('_', '01890a5d-ac96-774b-bcce-b302099a8057');
\echo :SQLSTATE
SELECT typeid_encode(repeat('x', 64), '01890a5d-ac96-774b-bcce-b302099a8057');
\echo :SQLSTATE
SELECT length(typeid_encode(repeat('x', 63), '01890a5d-ac96-774b-bcce-b302099a8057'));

-- The suffix alone.
SELECT b32_encode('01890a5d-ac96-774b-bcce-b302099a8057'),
       b32_decode('01h455vb4pex5vsknk084sn02q');
SELECT b32_decode(encoded) IS NULL AS refused, length(encoded)
FROM (VALUES ('01H455VB4PEX5VSKNK084SN02Q'), ('81h455vb4pex5vsknk084sn02q'),
             ('01h455vb4pex5vsknk084sn02'), ('01h455vb4pex5vsknk084sn02qq'),
             ('o1h455vb4pex5vsknk084sn02q'), ('01h455vb4pex5vsknk084sn02 '),
             (''), (repeat('0', 1000000)), (E'01h455vb4pex5vsknk084sn02\x01'))
    AS v (encoded);

-- NULL in, NULL out.
SELECT b32_encode(NULL) IS NULL AND b32_decode(NULL) IS NULL AND
       typeid_encode('a', NULL) IS NULL AND typeid_encode(NULL, '01890a5d-ac96-774b-bcce-b302099a8057') IS NULL AND
       typeid_decode(NULL, 'a') IS NULL AND typeid_decode('a', NULL) IS NULL AND
       typeid_prefix(NULL) IS NULL AND typeid_check(NULL) IS NULL AS all_null;
DROP TABLE vector, checked;
DROP FUNCTION reason;
