-- What was encoded decodes to the same, for random values and every boundary; no two
-- inputs meet in one text; and text in byte order sorts as what is stored.
BEGIN;
SELECT plan(22);

-- Each bit alone, each run of ones from either end, and random ones.
CREATE TEMP TABLE ids AS
SELECT DISTINCT id FROM (
    SELECT encode(set_bit(decode(repeat('00', 16), 'hex'), n, 1), 'hex')::uuid AS id
    FROM generate_series(0, 127) AS n
    UNION ALL
    SELECT lpad(repeat('f', n), 32, '0')::uuid FROM generate_series(0, 32) AS n
    UNION ALL
    SELECT rpad(repeat('f', n), 32, '0')::uuid FROM generate_series(0, 32) AS n
    UNION ALL
    SELECT gen_random_uuid() FROM generate_series(1, 20000)
    UNION ALL
    SELECT uuidv7_mono() FROM generate_series(1, 20000)
    UNION ALL
    SELECT ulid_next() FROM generate_series(1, 20000)
) s;
SELECT cmp_ok(count(*), '>', 60100::bigint, 'there are ids to try') FROM ids;

SELECT is(count(*), 0::bigint, 'base 32 decodes to what it encoded')
FROM ids WHERE b32_decode(b32_encode(id)) IS DISTINCT FROM id;
SELECT is(count(*), 0::bigint, 'a ULID does')
FROM ids WHERE ulid_decode(ulid_encode(id)) IS DISTINCT FROM id
            OR ulid_decode(lower(ulid_encode(id))) IS DISTINCT FROM id
            OR ulid_decode(ulid_encode(id), true) IS DISTINCT FROM id;
SELECT is(count(*), 0::bigint, 'a TypeID does')
FROM ids, (VALUES (''), ('a'), ('a_b'), ('a__b'), (repeat('x', 63))) AS v (prefix)
WHERE typeid_decode(typeid_encode(prefix, id), prefix) IS DISTINCT FROM id
   OR typeid_prefix(typeid_encode(prefix, id)) IS DISTINCT FROM prefix
   OR NOT typeid_check(typeid_encode(prefix, id));
SELECT is(count(DISTINCT b32_encode(id)), count(*), 'no two ids have one text') FROM ids;

SELECT is(count(*), 0::bigint, 'base 32 sorts as the ids do')
FROM (SELECT row_number() OVER (ORDER BY id) AS a,
             row_number() OVER (ORDER BY b32_encode(id) COLLATE "C") AS b FROM ids) s
WHERE a <> b;
SELECT is(count(*), 0::bigint, 'so do ULIDs')
FROM (SELECT row_number() OVER (ORDER BY id) AS a,
             row_number() OVER (ORDER BY ulid_encode(id) COLLATE "C") AS b FROM ids) s
WHERE a <> b;

-- A changed character never gives the same id, at any place.
SELECT is(count(*), 0::bigint, 'a text with one character changed is another id, or none')
FROM (SELECT id, b32_encode(id) AS encoded FROM ids LIMIT 300) s,
     generate_series(1, 26) AS place, generate_series(1, 127) AS c
WHERE chr(c) <> substr(encoded, place, 1)
  AND b32_decode(overlay(encoded PLACING chr(c) FROM place FOR 1)) = id;

-- KSUIDs: the same over 20 bytes.
CREATE TEMP TABLE ksuids AS
SELECT DISTINCT id FROM (
    SELECT set_bit(decode(repeat('00', 20), 'hex'), n, 1) AS id FROM generate_series(0, 159) AS n
    UNION ALL
    SELECT decode(lpad(repeat('f', n), 40, '0'), 'hex') FROM generate_series(0, 40) AS n
    UNION ALL
    SELECT decode(rpad(repeat('f', n), 40, '0'), 'hex') FROM generate_series(0, 40) AS n
    UNION ALL
    SELECT ksuid_next() FROM generate_series(1, 20000)
) s;
SELECT is(count(*), 0::bigint, 'a KSUID decodes to what it encoded')
FROM ksuids WHERE ksuid_decode(ksuid_encode(id)) IS DISTINCT FROM id;
SELECT is(count(*), 0::bigint, 'KSUIDs sort as their bytes do')
FROM (SELECT row_number() OVER (ORDER BY id) AS a,
             row_number() OVER (ORDER BY ksuid_encode(id) COLLATE "C") AS b FROM ksuids) s
WHERE a <> b;

-- Numbers: each power of two, the numbers beside it, and random ones of every size.
CREATE TEMP TABLE numbers AS
SELECT DISTINCT id FROM (
    SELECT (1::bigint << n) + d AS id FROM generate_series(0, 62) AS n, generate_series(-1, 1) AS d
    UNION ALL
    SELECT 9223372036854775807
    UNION ALL
    SELECT ('x' || substr(md5(n::text), 1, 16))::bit(64)::bigint & 9223372036854775807 >> n % 62
    FROM generate_series(1, 5000) AS n
) s;
SELECT is(count(*), 0::bigint, 'a Sqid decodes to what it encoded, and is canonical')
FROM numbers, (VALUES (0), (10), (255)) AS v (min_length)
WHERE sqids_decode(sqids_encode(ARRAY[id, 0, id], min_length => min_length),
                   min_length => min_length, canonical => true) IS DISTINCT FROM ARRAY[id, 0, id];
SELECT is(count(*), 0::bigint, 'so it does in the smallest alphabet and a large one')
FROM numbers, (VALUES ('abc'), ((SELECT string_agg(chr(n), '') FROM generate_series(1, 127) AS n))) AS v (alphabet)
WHERE sqids_decode(sqids_encode(ARRAY[id], alphabet), alphabet) IS DISTINCT FROM ARRAY[id];
SELECT is(count(DISTINCT sqids_encode(ARRAY[id])), count(*), 'no two numbers have one Sqid') FROM numbers;

-- Masks.
CREATE TEMP TABLE keys AS
SELECT decode(substr(repeat(md5(n::text), 2), 1, 2 * length), 'hex') AS key
FROM generate_series(1, 3) AS n, (VALUES (16), (24), (32)) AS v (length);
SELECT is(count(*), 0::bigint, 'a mask of 64 bits is undone, of negative numbers too')
FROM numbers, keys
WHERE id_unmask(id_mask(id, key), key) <> id OR id_unmask(id_mask(-id, key), key) <> -id
   OR id_unmask(id_mask(~id, key), key) <> ~id;
SELECT is(count(*), 0::bigint, 'a mask of fewer bits is undone, and has no more of them')
FROM numbers, keys, generate_series(20, 63) AS bits
WHERE id < 1::bigint << bits AND id % 7 = 0
  AND (id_unmask(id_mask(id, key, bits), key, bits) IS DISTINCT FROM id
       OR id_mask(id, key, bits) NOT BETWEEN 0 AND ((1::bigint << bits - 1) - 1) * 2 + 1);
SELECT is(count(DISTINCT id_mask(n, key, 20)), 1048576::bigint, 'all numbers of 20 bits have different masks')
FROM generate_series(0, (1 << 20) - 1) AS n, (SELECT key FROM keys LIMIT 1) s;

CREATE TEMP TABLE v7s AS
SELECT id FROM ids WHERE uuidv7_time(id) IS NOT NULL
UNION ALL SELECT uuidv7_floor('1970-01-01 00:00+00') UNION ALL SELECT uuidv7_ceil('10889-08-02 05:31:50.655+00')
UNION ALL SELECT uuidv7_floor(to_timestamp(2 ^ n / 1000)) FROM generate_series(0, 47) AS n;
SELECT cmp_ok(count(*), '>', 20000::bigint, 'there are UUIDv7 to mask') FROM v7s;
SELECT is(count(*), 0::bigint, 'the mask of a UUIDv7 is a UUIDv4 and is undone')
FROM v7s, (SELECT key FROM keys LIMIT 3) s
WHERE uuid_unmask(uuid_mask(id, key), key) IS DISTINCT FROM id
   OR uuid_mask(id, key)::text !~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$';
SELECT is(count(*), 0::bigint, 'a random UUIDv4 unmasks to a UUIDv7 that has it as its mask')
FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 1000)) s, keys
WHERE uuid_mask(uuid_unmask(id, key), key) IS DISTINCT FROM id;

-- Of 2,000 masks in a row each bit is set about as often as not: 13 deviations are
-- never seen of a coin, and always where something shows through.
CREATE FUNCTION pg_temp.bits_off(masks uuid[]) RETURNS bigint LANGUAGE sql AS $$
SELECT count(*) FROM (
    SELECT place FROM unnest(masks) AS m, generate_series(0, 127) AS place
    WHERE place NOT IN (64, 65) AND place NOT BETWEEN 48 AND 51
    GROUP BY place
    HAVING abs(sum(get_bit(uuid_send(m), place / 8 * 8 + 7 - place % 8)) - count(*) / 2.0) > 6.5 * sqrt(count(*))) s
$$;
SELECT is(pg_temp.bits_off(array_agg(uuid_mask(id, key))), 0::bigint, 'no bit of masks tells anything')
FROM (SELECT uuidv7_mono() AS id FROM generate_series(1, 2000)) s, (SELECT key FROM keys LIMIT 1) k;
SELECT cmp_ok(pg_temp.bits_off(array_agg(uuidv7_mono())), '>', 20::bigint, '... and the check sees those of UUIDv7')
FROM generate_series(1, 2000);

-- The lenient reading is a folding that was asked for; without it nothing folds.
SELECT is(count(*), 0::bigint, 'no other text decodes to the id strictly')
FROM (SELECT id, ulid_encode(id) AS encoded FROM ids LIMIT 2000) s
WHERE encoded <> translate(encoded, '01', 'OI') AND ulid_decode(translate(encoded, '01', 'OI')) IS NOT NULL;

SELECT * FROM finish();
ROLLBACK;
