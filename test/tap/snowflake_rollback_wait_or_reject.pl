# A clock that goes back a little is waited for; one that goes back too far is
# refused with the distance, and nothing is changed by that. A used-up sequence
# waits for a later millisecond. No id comes twice, and the check that says so
# finds the repeats of a generator that looks at nothing.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main');
# One attempt: an id, the step, and another id at once. The distance is that in
# the message, NULL where there was none; `within` is how much it may be less.
$node->safe_psql('postgres', q{
    CREATE TABLE ids (n int GENERATED ALWAYS AS IDENTITY, id bigint);
    CREATE FUNCTION step(span interval, OUT state text, OUT distance int, OUT within int)
    LANGUAGE plpgsql AS $$
    DECLARE
        message text;
        started timestamptz;
    BEGIN
        PERFORM idgen_shift_clock('0');
        started := clock_timestamp();
        INSERT INTO ids (id) VALUES (snowflake_next());
        PERFORM idgen_shift_clock(span);
        BEGIN
            INSERT INTO ids (id) VALUES (snowflake_next());
            state := '00000';
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
            distance := substring(message
                FROM '^clock is (\d+) ms behind the last Snowflake id$');
        END;
        within := 1 + extract(epoch FROM clock_timestamp() - started) * 1000;
    END $$});

sub status
{
    my ($columns) = @_;
    return $node->safe_psql('postgres', "SELECT $columns FROM snowflake_status");
}

sub take_ids
{
    my ($count) = @_;
    $node->safe_psql('postgres', "INSERT INTO ids (id)
        SELECT snowflake_next() FROM generate_series(1, $count)");
    return;
}

subtest 'snowflake_rollback_wait' => sub {
    take_ids(1000);
    my $rounds = 30;
    is($node->safe_psql('postgres', qq{SELECT state, count(*)
        FROM generate_series(1, $rounds), step('-20 ms') GROUP BY 1}),
        "00000|$rounds", '20 ms back: every call gives an id');
    # A round in which this process was not run for 20 ms does not have to wait.
    my ($waits, $refusals) = split /\|/, status('clock_waits, refusals');
    cmp_ok($waits, '>', 0, 'and calls waited');
    cmp_ok($waits, '<=', $rounds, '... each is counted once');
    is($refusals, 0, '... none was refused');
    is($node->safe_psql('postgres', q{SET idgen.clock_max_wait = '1h';
        SELECT state FROM step('-300 ms')}), '00000', 'more is waited for if that is set');
    is(not_rising($node, 'ids', 'n'), '0|0', 'all rise strictly');
};

subtest 'snowflake_rollback_reject' => sub {
    my $refused = status('refusals');
    my ($state, $distance, $within) = split /\|/,
        $node->safe_psql('postgres', q{SELECT * FROM step('-5000 ms')});
    is($state, '55000', '5000 ms back: refused');
    cmp_ok($distance, '<=', 5000, 'the message has the distance');
    cmp_ok($distance, '>=', 5000 - $within, '... less what has passed since');
    is(status('refusals'), $refused + 1, 'and it is counted');
    my $before = status('node, holder, epoch, last_time, clock_waits');
    my $last = $node->safe_psql('postgres', 'SELECT max(id) FROM ids');
    is(sqlstate_of($node, 'SELECT snowflake_next()'), '55000', 'another session: the same')
        foreach 1 .. 3;
    is(status('refusals'), $refused + 4, '... each is counted');
    is(status('node, holder, epoch, last_time, clock_waits'), $before,
        'and the state is untouched');
    is(status('last_time = snowflake_time(' . $last . ')'), 't', '... the last id is the last');
    is($node->safe_psql('postgres', q{SET idgen.clock_max_wait = 0;
        SELECT state FROM step('-200 ms')}), '55000', 'nothing is waited for if that is set');

    # The wait can be cancelled.
    $node->safe_psql('postgres', q{SELECT idgen_shift_clock('-1h')});
    my $waiting = psql_start($node, 'waiting', q{SET idgen.clock_max_wait = '2h';
        SELECT snowflake_next()});
    ok(waits_for($node, 'waiting', "'Extension', 'IdgenClock'"), 'an hour is waited for');
    $node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'waiting'});
    my ($rc, $out, $err) = psql_finish($waiting);
    like($err, qr/canceling statement due to user request/, '... until it is cancelled');

    $node->safe_psql('postgres', q{SELECT idgen_shift_clock('0')});
    take_ids(1000);
    is(status('node, holder, epoch'), join('|', (split /\|/, $before)[0 .. 2]),
        'with the clock right again the same lease goes on');
    is(not_rising($node, 'ids', 'n'), '0|0', 'and all rise strictly');
};

subtest 'negative_snowflake_no_rollback_check' => sub {
    # The sequence begins anew in each ms, which nothing compares with the last.
    $node->safe_psql('postgres', q{
        CREATE TABLE unchecked (n int GENERATED ALWAYS AS IDENTITY, id bigint);
        DO $$
        DECLARE
            back int := 0;
            started timestamptz;
            ms bigint;
            last_ms bigint := 0;
            sequence int;
        BEGIN
            FOR round IN 1 .. 10 LOOP
                started := clock_timestamp();
                WHILE clock_timestamp() < started + interval '40 ms' LOOP
                    ms := floor(extract(epoch FROM clock_timestamp()) * 1000) - back;
                    sequence := CASE WHEN ms = last_ms THEN sequence + 1 ELSE 0 END;
                    last_ms := ms;
                    INSERT INTO unchecked (id) VALUES (ms << 22 | sequence);
                END LOOP;
                back := back + 20;
            END LOOP;
        END $$});
    my ($falling, $twice) = split /\|/, not_rising($node, 'unchecked', 'n');
    my $all = $node->safe_psql('postgres', 'SELECT count(*) FROM unchecked');
    cmp_ok($twice, '>', 0, 'the check finds repeats where nobody looks');
    cmp_ok($falling, '>', 0, '... and where ids do not rise');
    note "$twice of $all come twice, $falling are not above the one before";
};

# Ids are kept in an array first: an INSERT of each would be too slow to use up
# a sequence.
my $burst = q{INSERT INTO burst (session, n, id) SELECT '%s', n, id
    FROM unnest(ARRAY(SELECT snowflake_next() FROM generate_series(1, %d)))
    WITH ORDINALITY AS u (id, n)};

# The most ids that a ms has, and how many ms there are.
sub crowd
{
    my ($server, $bits) = @_;
    return split /\|/, $server->safe_psql('postgres', qq{SELECT max(count), count(*) FROM (
        SELECT count(*) FROM burst
        GROUP BY snowflake_time(id, 1704067200000, 22 - $bits, $bits)) s});
}

sub burst
{
    my ($server, $bits) = @_;
    $server->safe_psql('postgres', 'CREATE TABLE burst (session text, n int, id bigint)');
    $server->safe_psql('postgres', sprintf $burst, 'one', 10_000);
    is(not_rising($server, 'burst', 'n'), '0|0', '10,000 in one statement: distinct, rising');
    my ($most, $ms) = crowd($server, $bits);
    cmp_ok($ms, '>=', 10_000 / 2**$bits, 'they are of more than one ms');
    note "one session: $ms ms, up to $most in each";
    my @sessions = map { psql_start($server, "burst$_", sprintf $burst, $_, 100_000) } 1 .. 8;
    is((psql_finish($_))[0], 0, 'a session of 100,000') foreach @sessions;
    is(not_rising($server, 'burst', 'n', per => 'session'), '0|0',
        '8 sessions of 100,000: distinct, each rises');
    is($server->safe_psql('postgres', 'SELECT count(DISTINCT id) FROM burst'), 810_000,
        '... none is missing');
    ($most, $ms) = crowd($server, $bits);
    cmp_ok($most, '<=', 2**$bits, 'no ms has more than the sequence holds');
    my $waits = $server->safe_psql('postgres', 'SELECT sequence_waits FROM snowflake_status');
    note "8 sessions: $ms ms, up to $most in each, $waits waits";
    return $waits;
}

subtest 'snowflake_sequence_exhaustion_waits' => sub {
    # How fast this machine is decides whether the built-in layout has to wait.
    burst($node, 12);
    my $narrow = idgen_node('narrow');
    $narrow->safe_psql('postgres',
        'INSERT INTO snowflake_layout (node_bits, sequence_bits) VALUES (14, 8)');
    cmp_ok(burst($narrow, 8), '>', 0, '256 in a ms: calls waited for later ones');
    $narrow->stop;
};

$node->stop;
done_testing();
