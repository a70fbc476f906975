-- A core sequence with CACHE 20 leaves what a session had of it, a hole; a tag goes
-- on in the next session. Sessions that meet are in test/isolation.

-- Each \connect is a session of its own, and the tag has to be committed.
INSERT INTO id_segment (biz_tag) VALUES ('dance');
CREATE SEQUENCE cached CACHE 20;
SELECT nextval('cached') AS c1, segment_next('dance') AS n1 \gset
SELECT nextval('cached') AS c2, segment_next('dance') AS n2 \gset
\connect
SELECT nextval('cached') AS c3, segment_next('dance') AS n3 \gset
SELECT nextval('cached') AS c4, segment_next('dance') AS n4 \gset
\connect
SELECT nextval('cached') AS c5, segment_next('dance') AS n5 \gset

BEGIN;
SELECT plan(2);
SELECT is(ARRAY[:c1, :c2, :c3, :c4, :c5], ARRAY[1, 2, 21, 22, 41],
          'sequence: 1, 2, in a new session 21, 22, in another 41');
SELECT is(ARRAY[:n1, :n2, :n3, :n4, :n5], ARRAY[1, 2, 3, 4, 5],
          'segment: no hole from session to session');
SELECT * FROM finish();
ROLLBACK;

DROP SEQUENCE cached;
DELETE FROM id_segment WHERE biz_tag = 'dance';
