-- Sqids: the specification's values and many more both ways, blocklists,
-- canonical texts, and what is refused.
\getenv top PG_ABS_SRCDIR
\set file :top '/test/vectors/sqids.tsv'
CREATE TABLE vector (sqid text, numbers bigint[], alphabet text, min_length int, blocklist text[]);
COPY vector FROM :'file' WITH (HEADER);
ALTER TABLE vector ADD given text;
UPDATE vector SET given = coalesce(alphabet, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
SELECT sqid, numbers, sqids_encode(numbers, given, min_length, blocklist),
       sqids_decode(sqid, given), sqids_decode(sqid, given, min_length, blocklist, true)
FROM vector
WHERE sqids_encode(numbers, given, min_length, blocklist) IS DISTINCT FROM sqid
   OR sqids_decode(sqid, given) IS DISTINCT FROM numbers
   OR sqids_decode(sqid, given, min_length, blocklist, true) IS DISTINCT FROM numbers;
SELECT count(*), count(*) FILTER (WHERE sqid <> sqids_encode(numbers, given, min_length, '{}')) AS of_another_attempt
FROM vector;
SELECT sqids_encode('{1,2,3}'), sqids_encode('{}') = '' AS empty, sqids_decode('');
SELECT sqids_encode(ARRAY[n]) FROM generate_series(0, 9) AS n;

-- Texts with a blocked word decode, but are not canonical.
SELECT count(*), count(sqids_decode(plain)) AS decoded, count(sqids_decode(plain, canonical => true)) AS canonical,
       count(sqids_decode(plain, blocklist => '{}', canonical => true)) AS canonical_without_blocklist
FROM (SELECT sqid, sqids_encode(numbers, blocklist => '{}') AS plain FROM vector
      WHERE alphabet IS NULL AND min_length = 0 AND blocklist IS NULL) s
WHERE plain <> sqid;
-- ... nor are texts with padding that nobody asked for.
SELECT sqids_decode(sqid), sqids_decode(sqid, canonical => true)
FROM (VALUES (sqids_encode('{7}', min_length => 20)), (sqids_encode('{7}'))) AS v (sqid);

-- Whatever the blocklist has that cannot be in the text counts for nothing.
SELECT sqids_encode('{1,2,3}', blocklist => ARRAY['', 'x', '86', '86Rf07!', 'ÄÄÄ', '86rf0%']);
SELECT sqids_encode('{1,2,3}', blocklist => ARRAY['86rF07']);
SELECT sqids_encode('{1,2,3}', blocklist => ARRAY['RF07']), sqids_encode('{1,2,3}', blocklist => ARRAY['6Rf0']);

-- The greatest numbers; one more is no number.
SELECT sqids_encode(ARRAY[9223372036854775807]), sqids_encode(ARRAY[9223372036854775807, 0], 'abc');
SELECT sqids_decode(sqids_encode(ARRAY[9223372036854775807, 0, 9223372036854775807]));
SELECT sqids_decode(sqids_encode(ARRAY[9223372036854775807], '0123456789a'), '0123456789a');

-- Malformed: NULL.
SELECT count(*), count(sqids_decode(sqid))
FROM (VALUES ('*'), ('86Rf0*'), (' 86Rf07'), ('b'), ('é'), (repeat('8', 100000)),
             ('8ZZZZZZZZZZZZZZZZZZZZZZZZZZZ'), (E'86Rf07\n')) AS v (sqid);

-- Arguments.
SELECT sqids_encode('{-1}');
\echo :SQLSTATE
SELECT sqids_encode('{1,NULL}');
\echo :SQLSTATE
SELECT sqids_encode('{{1},{2}}');
\echo :SQLSTATE
SELECT sqids_encode(array_agg(n)) FROM generate_series(1, 10001) AS n;
\echo :SQLSTATE
SELECT sqids_decode(sqids_encode(array_agg(n))) = array_agg(n) AS ten_thousand
FROM generate_series(1, 10000::bigint) AS n;
SELECT sqids_encode('{1}', 'ab');
\echo :SQLSTATE
SELECT sqids_encode('{1}', 'abca');
\echo :SQLSTATE
SELECT sqids_encode('{1}', 'abcé');
\echo :SQLSTATE
SELECT sqids_encode('{1}', repeat('abc', 100000));
\echo :SQLSTATE
SELECT sqids_encode('{1}', min_length => -1);
\echo :SQLSTATE
SELECT sqids_encode('{1}', min_length => 256);
\echo :SQLSTATE
SELECT sqids_encode('{1}', blocklist => ARRAY['abc', NULL]);
\echo :SQLSTATE
SELECT sqids_encode('{1}', blocklist => ARRAY[['abc'], ['abd']]);
\echo :SQLSTATE
SELECT sqids_decode('bM', 'ab');
\echo :SQLSTATE
-- Three attempts and one more: each has one of these.
SELECT sqids_encode('{0}', 'abc', 3, ARRAY[sqids_encode('{0}', 'abc', 3, '{}'), 'aba', 'abb', 'abc', 'aca', 'acb', 'acc',
    'bab', 'baa', 'bac', 'bca', 'bcb', 'bcc', 'cab', 'caa', 'cac', 'cba', 'cbb', 'cbc', 'aab', 'aac', 'bba', 'bbc', 'cca', 'ccb']);
\echo :SQLSTATE

SELECT sqids_encode(NULL) IS NULL AND sqids_encode('{1}', NULL) IS NULL AND
       sqids_encode('{1}', 'abc', NULL) IS NULL AND
       sqids_decode(NULL) IS NULL AND sqids_decode('bM', NULL) IS NULL AND
       sqids_decode('bM', min_length => NULL) IS NULL AND
       sqids_decode('bM', canonical => NULL) IS NULL AS all_null;
DROP TABLE vector;
