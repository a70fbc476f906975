-- Once id_segment is not as the extension made it, no number is taken of it; and
-- once it is so again, numbers go on.
CREATE FUNCTION ask(tag text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    message text;
BEGIN
    RETURN (segment_alloc(tag, 1)).start_id;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
    RETURN SQLSTATE || ' ' || message;
END $$;
INSERT INTO id_segment (biz_tag) VALUES ('gone');
SELECT ask('gone');

-- For sessions that know it, too.
ALTER EXTENSION idgen DROP TABLE id_segment;
SELECT ask('gone');
ALTER EXTENSION idgen ADD TABLE id_segment;
SELECT ask('gone');

ALTER EXTENSION idgen DROP TABLE segment_log;
SELECT ask('gone');
ALTER EXTENSION idgen ADD TABLE segment_log;
SELECT ask('gone');

ALTER TABLE id_segment RENAME TO other;
SELECT ask('gone');
ALTER TABLE other RENAME TO id_segment;
SELECT ask('gone');

-- Each column that numbers depend on.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY '{biz_tag,max_id,step,updated_at,incarnation,system_id,timeline}'::text[] LOOP
        EXECUTE format('ALTER TABLE id_segment RENAME %I TO other', name);
        COMMIT;
        RAISE NOTICE '%: %', name, ask('gone');
        EXECUTE format('ALTER TABLE id_segment RENAME other TO %I', name);
        COMMIT;
    END LOOP;
END $$;
SELECT ask('gone');

DROP FUNCTION ask(text);
-- For dumps: ALTER EXTENSION ADD does not bring back what they take along.
DROP EXTENSION idgen;
CREATE EXTENSION idgen;
