-- A number is of the tag that was asked for, wherever in a statement or a function
-- the tag comes from: a tag of a thousand gives numbers of that thousand alone.
INSERT INTO id_segment (biz_tag, max_id) VALUES ('a', 1000), ('b', 2000), ('c', 3000);
CREATE VIEW tags AS SELECT * FROM (VALUES ('a'), ('b'), ('c'), ('a')) AS v (tag);

-- A query: columns, a correlated subquery, an expression, several calls in one.
SELECT tag, segment_next(tag) FROM tags;
SELECT tag, (SELECT segment_next(tag) OFFSET 0) FROM tags;
SELECT tag, segment_next(lower(upper(tag))) FROM tags;
SELECT segment_next('a') AS a, segment_next('b') AS b, segment_next('a') AS a_again;
SELECT tag, segment_next(CASE tag WHEN 'a' THEN 'b' ELSE tag END) FROM tags;
-- ... and types that a tag may come in.
SELECT segment_next('a'::varchar) AS a, segment_next('b'::char(5)) AS b, segment_next('c'::name::text) AS c;

-- A prepared statement.
PREPARE take(text) AS SELECT segment_next($1);
EXECUTE take('a');
EXECUTE take('b');
SET plan_cache_mode = force_generic_plan;
EXECUTE take('a');
EXECUTE take('b');
EXECUTE take('a');
RESET plan_cache_mode;
DEALLOCATE take;

-- A function in SQL, inlined or not.
CREATE FUNCTION take(tag text) RETURNS bigint LANGUAGE sql AS 'SELECT segment_next(tag)';
SELECT tag, take(tag) FROM tags;
CREATE FUNCTION take_set(tag text) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT segment_next(tag)';
SELECT tag, take_set(tag) FROM tags;

-- PL/pgSQL keeps an expression for the whole of a transaction.
DO $$
DECLARE
    tag text;
    id bigint;
BEGIN
    FOREACH tag IN ARRAY '{a,b,c,a}'::text[] LOOP
        id := segment_next(tag);
        RAISE NOTICE '%: %', tag, id;
    END LOOP;
    FOREACH tag IN ARRAY '{a,b,c,a}'::text[] LOOP
        SELECT segment_next(tag) INTO id;
        RAISE NOTICE '%: %', tag, id;
    END LOOP;
    FOREACH tag IN ARRAY '{a,b,c,a}'::text[] LOOP
        EXECUTE 'SELECT segment_next($1)' INTO id USING tag;
        RAISE NOTICE '%: %', tag, id;
    END LOOP;
END $$;
CREATE FUNCTION take_plpgsql(tag text) RETURNS bigint LANGUAGE plpgsql AS
'BEGIN RETURN segment_next(tag); END';
SELECT tag, take_plpgsql(tag) FROM tags;
BEGIN;
SELECT take_plpgsql('a');
SELECT take_plpgsql('b');
SAVEPOINT s;
SELECT take_plpgsql('c');
ROLLBACK TO s;
SELECT take_plpgsql('a');
COMMIT;
-- An unknown tag is an error there as anywhere.
DO $$
DECLARE
    tag text;
    id bigint;
BEGIN
    FOREACH tag IN ARRAY '{a,nobody}'::text[] LOOP
        id := segment_next(tag);
        RAISE NOTICE '%: %', tag, id;
    END LOOP;
EXCEPTION WHEN SQLSTATE '02000' THEN
    RAISE NOTICE '%: %', tag, SQLSTATE;
END $$;

-- A trigger that takes the tag from the row.
CREATE TABLE doc (id bigint, kind text);
CREATE FUNCTION number_doc() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.id := segment_next(NEW.kind);
    RETURN NEW;
END $$;
CREATE TRIGGER number_doc BEFORE INSERT ON doc FOR EACH ROW EXECUTE FUNCTION number_doc();
INSERT INTO doc (kind) SELECT tag FROM tags;
INSERT INTO doc (kind) SELECT tag FROM tags ORDER BY tag DESC;
SELECT kind, count(*), bool_and(id / 1000 = strpos('abc', kind)) AS own_numbers FROM doc
GROUP BY kind ORDER BY kind;
DROP TABLE doc;

-- segment_alloc() and segment_set() too.
DO $$
DECLARE
    tag text;
    block record;
BEGIN
    FOREACH tag IN ARRAY '{a,b,c,a}'::text[] LOOP
        block := segment_alloc(tag, 2);
        RAISE NOTICE '%: % to %', tag, block.start_id, block.end_id;
    END LOOP;
    FOREACH tag IN ARRAY '{a,b,c}'::text[] LOOP
        PERFORM segment_set(tag, 10000 * strpos('abc', tag));
    END LOOP;
END $$;
SELECT tag, segment_next(tag) FROM tags;

-- Tags that look like something else.
INSERT INTO id_segment (biz_tag) VALUES (E'a"b\'c\\d{,}%s'), ('NULL'), (' '), ('A');
SELECT tag, segment_next(tag) FROM unnest(ARRAY[E'a"b\'c\\d{,}%s', 'NULL', ' ', 'A']) AS tag;
SELECT segment_next(E'%s%n"');
\echo :SQLSTATE

DROP FUNCTION take(text), take_set(text), take_plpgsql(text), number_doc();
DROP VIEW tags;
DELETE FROM id_segment;
