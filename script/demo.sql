-- demo.sql: what script/demo shows, one kind of id after the other.

\set ECHO queries
\pset pager off
\pset footer off
SET timezone = 'UTC';
CREATE EXTENSION idgen;

\echo
\echo '=== UUIDv7: ids that sort in the order in which they were made ==='
\echo

CREATE TABLE visit (
    id uuid DEFAULT uuidv7_mono() PRIMARY KEY,
    page text NOT NULL
);
INSERT INTO visit (page) VALUES ('home'), ('search'), ('product'), ('cart'), ('payment');

\echo 'An id tells when it was made; the order of the ids is the order of the inserts:'
SELECT id, uuidv7_time(id) AS made_at, page FROM visit ORDER BY id;

\echo 'So it stays with many in one millisecond:'
CREATE TABLE event (
    n integer NOT NULL,
    id uuid DEFAULT uuidv7_mono() PRIMARY KEY
);
INSERT INTO event (n) SELECT generate_series(1, 100000);
SELECT count(*) AS events,
       count(DISTINCT uuidv7_time(id)) AS milliseconds,
       bool_and(in_order) AS all_in_order
FROM (SELECT id, n = row_number() OVER (ORDER BY id) AS in_order FROM event) AS numbered;

\echo 'The primary key is an index on time, too; how many in the first 10 ms:'
\set ECHO none
SELECT min(uuidv7_time(id)) AS start FROM event \gset
\set ECHO queries
SELECT count(*) AS events FROM event
WHERE id BETWEEN uuidv7_floor(:'start')
             AND uuidv7_ceil(timestamptz :'start' + interval '9 ms');

\echo 'How the generator is doing:'
SELECT * FROM uuidv7_status;

\echo
\echo '=== Segments: dense numbers per business tag, none twice even after a crash ==='
\echo

INSERT INTO id_segment (biz_tag, step) VALUES ('invoice', 100);
CREATE TABLE invoice (
    id bigint DEFAULT segment_next('invoice') PRIMARY KEY,
    amount numeric NOT NULL
);
INSERT INTO invoice (amount) VALUES (9.90), (19.90), (29.90);
SELECT * FROM invoice ORDER BY id;

\echo 'A range for a client to use by itself:'
SELECT * FROM segment_alloc('invoice', 500);

\echo 'What is reserved is on disk before a number is handed out:'
SELECT biz_tag, start_id, end_id FROM segment_log ORDER BY start_id;
SELECT biz_tag, next_id, block_end, issued, blocks, waits FROM segment_status;

\echo
\echo '=== Snowflake: 64-bit ids with time and node, unique over a fleet of servers ==='
\echo

CREATE TABLE message (
    id bigint DEFAULT snowflake_next() PRIMARY KEY,
    body text NOT NULL
);
INSERT INTO message (body) VALUES ('hello'), ('world');
SELECT id, snowflake_time(id) AS made_at, snowflake_node(id) AS node,
       snowflake_sequence(id) AS sequence, body FROM message ORDER BY id;

\echo 'The node is leased, with a range of times that nobody else is granted:'
SELECT node, epoch, leased_from, leased_until, last_time FROM snowflake_status;

\echo
\echo '=== What is shown: text over what is stored, and masks that tell nothing ==='
\echo

\set ECHO none
SELECT decode(replace(gen_random_uuid()::text, '-', ''), 'hex') AS key \gset
\set ECHO queries
SELECT format, shown FROM visit, LATERAL (VALUES
    ('TypeID', typeid_encode('vis', id)),
    ('base 32', b32_encode(id)),
    ('mask of the UUIDv7', uuid_mask(id, :'key')::text),
    ('ULID', ulid_encode(ulid_next())),
    ('KSUID', ksuid_encode(ksuid_next())),
    ('NanoID', nanoid()),
    ('Sqid of 42', sqids_encode(ARRAY[42])),
    ('mask of 42, below 2^53', id_mask(42, :'key', 53)::text)) AS v (format, shown)
WHERE page = 'home';

\echo 'From the URL to the row by one index scan; what is malformed finds none:'
SELECT typeid_encode('vis', id) AS url FROM visit WHERE page = 'cart' \gset
SELECT page FROM visit WHERE id = typeid_decode(:'url', 'vis');
SELECT page FROM visit WHERE id = typeid_decode('vis_nonsense', 'vis');
