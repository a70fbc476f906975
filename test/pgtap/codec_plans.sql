-- What a client shows is one index scan away from the row; what is shown can be a column
-- or an index of its own.
BEGIN;
SELECT plan(9);

CREATE TEMP TABLE project (id bigint PRIMARY KEY, public_id uuid UNIQUE DEFAULT uuidv7_mono(), n int);
INSERT INTO project (id, n) SELECT n, n FROM generate_series(1, 5000) AS n;
ANALYZE project;

-- The plan in one line, without costs.
CREATE FUNCTION pg_temp.plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; all_lines text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        all_lines := all_lines || line || ' ';
    END LOOP;
    RETURN all_lines;
END $$;

PREPARE by_typeid(text) AS SELECT * FROM project WHERE public_id = b32_decode(substr($1, 5));
SELECT alike(pg_temp.plan_of($$EXECUTE by_typeid('prj_01h455vb4pex5vsknk084sn02q')$$),
            'Index Scan using project_public_id_key %', 'a text that is known is one index scan');
SET LOCAL plan_cache_mode = force_generic_plan;
SELECT alike(pg_temp.plan_of($$EXECUTE by_typeid('prj_01h455vb4pex5vsknk084sn02q')$$),
            'Index Scan using project_public_id_key %substr($1, 5)%', 'a parameter is, too');
SELECT alike(pg_temp.plan_of($$SELECT * FROM project WHERE public_id = typeid_decode('prj_01h455vb4pex5vsknk084sn02q', 'prj')$$),
            'Index Scan using project_public_id_key %Index Cond: (public_id = ''01890a5d%', 'and a TypeID');
SELECT alike(pg_temp.plan_of($$SELECT * FROM project WHERE id = id_unmask(12345, decode(repeat('00', 16), 'hex'))$$),
            'Index Scan using project_pkey %', 'and a mask');
SELECT alike(pg_temp.plan_of($$SELECT * FROM project WHERE public_id BETWEEN ulid_floor('2026-01-01') AND ulid_ceil('2026-01-02')$$),
            '%Index Cond: ((public_id >= ''%', 'and a span of times');

CREATE INDEX by_typeid ON project (typeid_encode('prj', public_id));
ANALYZE project;
SELECT alike(pg_temp.plan_of($$SELECT * FROM project WHERE typeid_encode('prj', public_id) = 'prj_01h455vb4pex5vsknk084sn02q'$$),
            'Index Scan using by_typeid %', 'an index on what is shown is used');
SELECT is((SELECT p.n FROM project p WHERE typeid_encode('prj', public_id) =
              (SELECT typeid_encode('prj', public_id) FROM project WHERE n = 77)), 77, '... and finds the row');

CREATE TEMP TABLE shown (
    id uuid PRIMARY KEY DEFAULT ulid_next(),
    b32 text GENERATED ALWAYS AS (b32_encode(id)) STORED,
    ulid text GENERATED ALWAYS AS (ulid_encode(id)) STORED,
    typeid text GENERATED ALWAYS AS (typeid_encode('prj', id)) STORED,
    at timestamptz GENERATED ALWAYS AS (ulid_time(id)) STORED,
    number bigint DEFAULT 42,
    sqid text GENERATED ALWAYS AS (sqids_encode(ARRAY[number])) STORED,
    masked bigint GENERATED ALWAYS AS (id_mask(number, '\x000102030405060708090a0b0c0d0e0f', 53)) STORED
);
INSERT INTO shown DEFAULT VALUES;
SELECT ok(b32_decode(b32) = id AND ulid_decode(ulid) = id AND typeid_decode(typeid, 'prj') = id AND at = ulid_time(id)
          AND sqids_decode(sqid) = ARRAY[number] AND id_unmask(masked, '\x000102030405060708090a0b0c0d0e0f', 53) = number,
          'generated columns hold what they should')
FROM shown;
SELECT throws_ok($$CREATE INDEX ON shown (nanoid(21))$$, '42P17', NULL, 'what is random is no index');

SELECT * FROM finish();
ROLLBACK;
