-- The last millisecond that the generator can count in: when its counter is used
-- up there is an error, never a wrapped id, and uuidv7_accept_clock() leads out.
BEGIN;
SELECT plan(6);

CREATE FUNCTION pg_temp.reach_the_end() RETURNS text LANGUAGE plpgsql AS $$
DECLARE target timestamptz := '2577-06-22 06:20:44.415+00';
BEGIN
    FOR attempt IN 1..1000 LOOP
        PERFORM idgen_shift_clock(target - clock_timestamp());
        BEGIN
            IF uuidv7_time(uuidv7_mono()) = target THEN
                RETURN 'reached';
            END IF;
        EXCEPTION WHEN object_not_in_prerequisite_state THEN
            NULL;  -- the clock went past it
        END;
    END LOOP;
    RETURN 'missed';
END $$;
SELECT is(pg_temp.reach_the_end(), 'reached', 'an id of the last ms');
SELECT idgen_shift_clock('0');

CREATE FUNCTION pg_temp.use_up() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE issued bigint := 0; previous uuid := uuidv7_mono(); now uuid;
BEGIN
    LOOP
        BEGIN
            now := uuidv7_mono();
        EXCEPTION WHEN sequence_generator_limit_exceeded THEN
            RETURN issued;
        END;
        IF now <= previous THEN
            RAISE 'not rising: % after %', now, previous;
        END IF;
        previous := now;
        issued := issued + 1;
    END LOOP;
END $$;
SELECT cmp_ok(pg_temp.use_up(), '<=', 1048576::bigint, 'the counter ends, rising to the last');
SELECT throws_ok('SELECT uuidv7_mono()', '2200H',
                 'the last UUIDv7 of the last millisecond is issued', 'then it is an error');
SELECT throws_ok('SELECT uuidv7_mono()', '2200H',
                 'the last UUIDv7 of the last millisecond is issued', 'and again');
SELECT lives_ok('SELECT uuidv7_accept_clock()', 'the clock is accepted again');
SELECT ok(uuidv7_time(uuidv7_mono()) <= clock_timestamp(), 'and ids follow it');

SELECT * FROM finish();
ROLLBACK;
