-- A number that was taken is gone when its transaction rolls back: 1, then 3, of a
-- core sequence and of a tag alike.

-- The worker sees nothing of an open transaction, so the tag is made before.
INSERT INTO id_segment (biz_tag) VALUES ('gap');
CREATE SEQUENCE gap;
SELECT nextval('gap') AS s1, segment_next('gap') AS t1 \gset
BEGIN;
SELECT nextval('gap') AS s2, segment_next('gap') AS t2 \gset
ROLLBACK;
SELECT nextval('gap') AS s3, segment_next('gap') AS t3 \gset

BEGIN;
SELECT segment_next('gap') AS t4 \gset
SAVEPOINT inner_one;
SELECT segment_next('gap') AS t5 \gset
ROLLBACK TO inner_one;
SELECT segment_next('gap') AS t6 \gset
COMMIT;
DO $$
BEGIN
    PERFORM segment_next('gap');
    RAISE 'caught';
EXCEPTION WHEN raise_exception THEN
    NULL;
END $$;
SELECT segment_next('gap') AS t8 \gset

BEGIN;
SELECT plan(5);
SELECT is(ARRAY[:s1, :s2, :s3], ARRAY[1, 2, 3], 'sequence: 1, rollback of 2, then 3');
SELECT is(ARRAY[:t1, :t2, :t3], ARRAY[1, 2, 3], 'segment: 1, rollback of 2, then 3');
SELECT is(ARRAY[:t4, :t5, :t6], ARRAY[4, 5, 6], 'a savepoint: 5 is a gap');
SELECT is(:t8, 8, 'an exception that is caught: 7 is a gap');
SELECT is(max_id, 1000::bigint, 'all from the first block')
FROM id_segment WHERE biz_tag = 'gap';
SELECT * FROM finish();
ROLLBACK;

DROP SEQUENCE gap;
DELETE FROM id_segment WHERE biz_tag = 'gap';
