-- What an owner's trigger says reaches the callers as valid text, however long it is
-- and wherever it has to be cut; and so does the status.

-- Committed, since the worker sees nothing of an open transaction.
INSERT INTO id_segment (biz_tag) VALUES ('text0'), ('text1');
CREATE FUNCTION complain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE '%', repeat('x', right(NEW.biz_tag, 1)::int) || repeat('é', 400)
    USING DETAIL = repeat('x', right(NEW.biz_tag, 1)::int) || repeat('ü', 400),
          HINT = repeat('x', right(NEW.biz_tag, 1)::int) || repeat('ñ', 400);
END $$;
CREATE TRIGGER complain BEFORE UPDATE ON id_segment FOR EACH ROW
WHEN (NEW.biz_tag LIKE 'text_') EXECUTE FUNCTION complain();

BEGIN;
SELECT plan(4);
-- An odd and an even number of bytes before the characters of two.
CREATE FUNCTION pg_temp.ends(value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN upper(left(value, 1) || right(value, 1));
EXCEPTION WHEN character_not_in_repertoire THEN
    RETURN '(invalid)';
END $$;
CREATE FUNCTION pg_temp.answer(tag text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
    detail text;
    hint text;
BEGIN
    PERFORM segment_alloc(tag);
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws(' ', SQLSTATE, pg_temp.ends(message), pg_temp.ends(detail), pg_temp.ends(hint));
END $$;
SELECT is(pg_temp.answer('text0'), 'P0001 ÉÉ ÜÜ ÑÑ', 'cut or not, it is text');
SELECT is(pg_temp.answer('text1'), 'P0001 XÉ XÜ XÑ', '... at an odd place too');
SELECT is(string_agg(pg_temp.ends(last_error), ' ' ORDER BY biz_tag), 'ÉÉ XÉ', 'and in the status')
FROM segment_status WHERE biz_tag IN ('text0', 'text1');
SELECT is(max_id, 0::bigint, 'nothing was reserved') FROM id_segment WHERE biz_tag = 'text0';
SELECT * FROM finish();
ROLLBACK;

DROP TRIGGER complain ON id_segment;
DROP FUNCTION complain();
DELETE FROM id_segment WHERE biz_tag LIKE 'text_';
