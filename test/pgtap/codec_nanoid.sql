-- NanoID: each character is as likely as any other, for alphabets of every size, also of
-- characters of several bytes.
BEGIN;
SELECT plan(8);

-- Chi-square over the characters, in deviations from what chance gives: below 8 but once
-- in 10^15 runs.
CREATE FUNCTION pg_temp.bias(texts text[], size int) RETURNS float8 LANGUAGE sql AS $$
SELECT (sum((n - expected) ^ 2 / expected) + (size - count(*)) * max(expected) - (size - 1)) / sqrt(2.0 * (size - 1))
FROM (SELECT count(*) AS n, sum(count(*)) OVER () / size AS expected
      FROM unnest(texts) AS t, regexp_split_to_table(t, '') AS c GROUP BY c) s
$$;
CREATE FUNCTION pg_temp.alphabet(size int, first int) RETURNS text LANGUAGE sql AS
$$SELECT string_agg(chr(n), '' ORDER BY n) FROM generate_series(first, first + size - 1) AS n$$;

SELECT cmp_ok(max(bias), '<', 8::float8, 'no alphabet of 2 to 256 characters is biased')
FROM (SELECT pg_temp.bias(array_agg(nanoid(1000, pg_temp.alphabet(size, 1024))), size) AS bias
      FROM (VALUES (2), (3), (10), (31), (32), (33), (62), (63), (64), (65), (100), (127), (128), (129), (200), (255), (256)) AS v (size),
           generate_series(1, 60)
      GROUP BY size) s;
SELECT cmp_ok(pg_temp.bias(array_agg(nanoid()), 64), '<', 8::float8, 'nor is the default')
FROM generate_series(1, 5000);
-- What one finds everywhere: a random byte modulo the size.
SELECT cmp_ok(pg_temp.bias(array_agg(substr(pg_temp.alphabet(200, 1024), get_byte(uuid_send(gen_random_uuid()), 0) % 200 + 1, 1)), 200),
              '>', 20::float8, 'the check misses no random byte modulo 200')
FROM generate_series(1, 60000);
SELECT cmp_ok(pg_temp.bias(array_agg(nanoid(1000, '0123456789abcdef')), 17), '>', 20::float8,
              '... nor a character that never comes')
FROM generate_series(1, 60);

SELECT set_eq($$SELECT regexp_split_to_table(nanoid(1000, 'aäß€😀'), '')$$, ARRAY['a', 'ä', 'ß', '€', '😀'],
              'characters of 1 to 4 bytes, all of them');
SELECT is(char_length(nanoid(65536, pg_temp.alphabet(256, 128512))), 65536, 'the longest, of 256 characters of 4 bytes');
SELECT throws_ok($$SELECT nanoid(21, pg_temp.alphabet(257, 1024))$$, '22023', NULL, '257 characters are too many');
SELECT throws_ok($$SELECT nanoid(21, 'aäbä')$$, '22023', 'alphabet has character "ä" twice', 'the same character twice');

SELECT * FROM finish();
ROLLBACK;
