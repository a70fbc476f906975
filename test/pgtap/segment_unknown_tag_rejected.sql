-- A tag with no row is an error, 02000, whichever function is asked and however
-- the tag gets there, and nothing is written.
BEGIN;
SELECT plan(9);

CREATE TEMP TABLE was AS
SELECT (SELECT count(*) FROM id_segment) AS tags, (SELECT count(*) FROM segment_log) AS blocks,
       (SELECT coalesce(sum(max_id), 0) FROM id_segment) AS reserved;

SELECT throws_ok($$SELECT segment_next('nobody')$$, '02000', 'tag "nobody" does not exist',
                 'segment_next()');
SELECT throws_ok($$SELECT segment_alloc('nobody')$$, '02000', 'tag "nobody" does not exist',
                 'segment_alloc() of a step');
SELECT throws_ok($$SELECT segment_alloc('nobody', 5)$$, '02000', 'tag "nobody" does not exist',
                 'segment_alloc() of a size');
SELECT throws_ok($$SELECT segment_set('nobody', 5)$$, '02000', 'tag "nobody" does not exist',
                 'segment_set()');
CREATE TEMP TABLE item (id bigint DEFAULT segment_next('nobody'), n int);
SELECT throws_ok('INSERT INTO item (n) VALUES (1)', '02000', 'tag "nobody" does not exist',
                 'a default');
SELECT is(count(*), 0::bigint, '... and no row of it is there') FROM item;
SELECT throws_ok($$SELECT segment_next('nobody')$$, '02000', 'tag "nobody" does not exist',
                 'asked again it is not remembered as anything else');

SELECT is((SELECT count(*) FROM id_segment) || ' ' || (SELECT count(*) FROM segment_log) || ' ' ||
          (SELECT coalesce(sum(max_id), 0) FROM id_segment),
          tags || ' ' || blocks || ' ' || reserved, 'no row was written')
FROM was;
SELECT is(count(*), 1::bigint, 'the status tells of it')
FROM segment_status
WHERE biz_tag = 'nobody' AND issued = 0 AND blocks = 0 AND block_start IS NULL
  AND last_error = 'tag "nobody" does not exist';

SELECT * FROM finish();
ROLLBACK;
