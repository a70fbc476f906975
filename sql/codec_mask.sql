-- Masks: values of an implementation of the standard that shares nothing with
-- this one (test/vectors/ff1.py), both ways, and what is refused.
\getenv top PG_ABS_SRCDIR
\set file :top '/test/vectors/ff1.tsv'
CREATE TABLE vector (key text, bits int, plain text, masked text);
COPY vector FROM :'file' WITH (HEADER);
SELECT * FROM vector, decode(key, 'hex') AS k
WHERE bits <= 64 AND (id_mask(plain::bigint, k, bits) <> masked::bigint
                      OR id_unmask(masked::bigint, k, bits) <> plain::bigint);
SELECT * FROM vector, decode(key, 'hex') AS k
WHERE bits = 122 AND (uuid_mask(plain::uuid, k) <> masked::uuid
                      OR uuid_unmask(masked::uuid, k) <> plain::uuid);
SELECT bits, count(*), count(DISTINCT masked) FROM vector GROUP BY 1 ORDER BY 1;
-- 64 bits are the default.
SELECT count(*) FROM vector, decode(key, 'hex') AS k
WHERE bits = 64 AND id_mask(plain::bigint, k) = masked::bigint AND id_unmask(masked::bigint, k) = plain::bigint;

-- A key's every byte counts, and so does the number of bits.
SELECT count(DISTINCT id_mask(1, set_byte(decode(repeat('00', 32), 'hex'), n, 1))) FROM generate_series(0, 31) AS n;
SELECT count(DISTINCT id_mask(1, decode(repeat('00', 16), 'hex'), n)) > 40 AS differ FROM generate_series(20, 64) AS n;

-- Keys of other lengths.
SELECT id_mask(1, '\x');
\echo :SQLSTATE
SELECT id_unmask(1, decode(repeat('00', 15), 'hex'));
\echo :SQLSTATE
SELECT uuid_mask('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', decode(repeat('00', 33), 'hex'));
\echo :SQLSTATE
SELECT uuid_unmask('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', decode(repeat('00', 1000000), 'hex'));
\echo :SQLSTATE

-- Bits, and ids that have more.
\set key 'decode(repeat(\'00\', 16), \'hex\')'
SELECT id_mask(1, :key, 19);
\echo :SQLSTATE
SELECT id_mask(1, :key, 65);
\echo :SQLSTATE
SELECT id_unmask(1, :key, -2147483648);
\echo :SQLSTATE
SELECT id_mask(9007199254740992, :key, 53);
\echo :SQLSTATE
SELECT id_mask(-1, :key, 53);
\echo :SQLSTATE
SELECT id_mask(-1, :key, 63);
\echo :SQLSTATE
SELECT id_mask(1048576, :key, 20);
\echo :SQLSTATE
SELECT id_unmask(9007199254740992, :key, 53) IS NULL AS above,
       id_unmask(-1, :key, 53) IS NULL AS negative,
       id_unmask(id_mask(-1, :key), :key) AS of_64_bits;

-- What is no v7, and what is no v4.
SELECT uuid_mask('017f22e2-79b0-4cc3-98c4-dc0c0c07398f', :key);
\echo :SQLSTATE
SELECT uuid_mask('017f22e2-79b0-7cc3-c8c4-dc0c0c07398f', :key);
\echo :SQLSTATE
SELECT uuid_unmask('017f22e2-79b0-7cc3-98c4-dc0c0c07398f', :key) IS NULL AS v7,
       uuid_unmask('017f22e2-79b0-4cc3-d8c4-dc0c0c07398f', :key) IS NULL AS variant,
       uuid_unmask('00000000-0000-0000-0000-000000000000', :key) IS NULL AS nil;

-- The key that is kept from call to call is the one of the call.
SELECT count(DISTINCT id_mask(1, k)), count(*)
FROM (SELECT decode(md5((n % 10)::text), 'hex') AS k FROM generate_series(1, 1000) AS n) s;

SELECT id_mask(NULL, :key) IS NULL AND id_mask(1, NULL) IS NULL AND
       id_mask(1, :key, NULL) IS NULL AND id_unmask(NULL, :key) IS NULL AND
       uuid_mask(NULL, :key) IS NULL AND uuid_unmask(NULL, :key) IS NULL AS all_null;
DROP TABLE vector;
