-- Step 10, prefetch at a share of 0.2, step 100 from number 20 on: 1 to 200 without
-- a hole, in blocks of 10, 10, 10, 100, 100, and only the first call waits.

-- The worker is the one who reads the setting: a new one, from a postmaster that has it.
ALTER SYSTEM SET idgen.segment_prefetch = 0.2;
SELECT pg_reload_conf() \g /dev/null
\connect
SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
WHERE backend_type = 'idgen segment worker' AND datname = current_database() \g /dev/null
-- Committed, since the worker sees nothing of an open transaction.
INSERT INTO id_segment (biz_tag, step) VALUES ('boundary', 10);
-- The counts in the status go on where an earlier tag of that name left them.
CREATE TEMP TABLE was AS
SELECT coalesce(max(waits), 0) AS waits, coalesce(max(blocks), 0) AS blocks, coalesce(max(issued), 0) AS issued
FROM segment_status WHERE biz_tag = 'boundary';
CREATE TEMP TABLE taken (n int GENERATED ALWAYS AS IDENTITY, id bigint, waits bigint);

-- Takes numbers, each once a prefetch that is due has landed.
CREATE FUNCTION pg_temp.take(number int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    status record;
    taken_id bigint;
    give_up timestamptz := clock_timestamp() + interval '3 minutes';
BEGIN
    FOR i IN 1..number LOOP
        INSERT INTO taken (id) VALUES (segment_next('boundary')) RETURNING id INTO taken_id;
        LOOP
            SELECT INTO status * FROM segment_status WHERE biz_tag = 'boundary';
            EXIT WHEN status.next_block_start IS NOT NULL;
            -- Not due before the number at 0.8 of the block; at its end next_id is NULL.
            EXIT WHEN status.next_id - 1 - status.block_start <
                      (status.block_end - status.block_start + 1) * 0.8;
            IF clock_timestamp() > give_up THEN
                RAISE 'no prefetch after number %', taken_id;
            END IF;
            PERFORM pg_sleep(0.001);
        END LOOP;
        UPDATE taken SET waits = status.waits - was.waits FROM was WHERE id = taken_id;
    END LOOP;
END $$;
SELECT pg_temp.take(20) \g /dev/null
UPDATE id_segment SET step = 100 WHERE biz_tag = 'boundary';
SELECT pg_temp.take(180) \g /dev/null

BEGIN;
SELECT plan(7);
SELECT is(count(*) FILTER (WHERE id = n) || ' of ' || count(*), '200 of 200', '1 to 200 without a hole')
FROM taken;
SELECT is(array_agg(end_id - start_id + 1 ORDER BY start_id), '{10,10,10,100,100}', 'block sizes')
FROM segment_log JOIN id_segment USING (biz_tag, incarnation) WHERE biz_tag = 'boundary';
SELECT is(max_id, 230::bigint, 'what they come to')
FROM id_segment WHERE biz_tag = 'boundary';
SELECT is(s.waits - was.waits, 1::bigint, 'only the first call waited')
FROM segment_status s, was WHERE biz_tag = 'boundary';
SELECT is(s.blocks - was.blocks - 1, 4::bigint, '4 prefetches')
FROM segment_status s, was WHERE biz_tag = 'boundary';
SELECT is(s.issued - was.issued, 200::bigint, '200 issued')
FROM segment_status s, was WHERE biz_tag = 'boundary';
SELECT is(max_id - (s.issued - was.issued), block_end - next_id + 1, 'allocated less issued is what is left')
FROM segment_status s JOIN id_segment USING (biz_tag), was WHERE biz_tag = 'boundary';
SELECT diag('calls that waited were those for number ' || string_agg(n::text, ', ' ORDER BY n))
FROM (SELECT n, waits > lag(waits, 1, 0::bigint) OVER (ORDER BY n) AS waited FROM taken) s
WHERE waited;
SELECT * FROM finish();
ROLLBACK;

DELETE FROM id_segment WHERE biz_tag = 'boundary';
ALTER SYSTEM RESET idgen.segment_prefetch;
SELECT pg_reload_conf() \g /dev/null
\connect
SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
WHERE backend_type = 'idgen segment worker' AND datname = current_database() \g /dev/null
