# kill -9 of the worker or of a caller at the moments that matter: before the
# commit nothing is reserved, after it the block is a gap, handed out by nobody;
# the server restarts by itself, and the next call has the next number.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant STEP => 100;
my $worker = 'idgen segment worker';
my $node = idgen_node('main', allows_streaming => 1, conf => "restart_after_crash = on
idgen.timeout = '1h'\nidgen.worker_idle_timeout = '1h'\n");
add_tag($node, 'order', STEP);
# Holds the worker before its commit, when somebody has the advisory lock.
$node->safe_psql('postgres', q{
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
    CREATE TRIGGER hold BEFORE UPDATE ON id_segment FOR EACH ROW EXECUTE FUNCTION hold()});
my @lists;

# Takes numbers and writes them down; the last of them.
sub note_numbers
{
    my ($count) = @_;
    push @lists, [ split /\n/, $node->safe_psql('postgres',
        "SELECT segment_next('order') FROM generate_series(1, $count)") ];
    is(@{ $lists[-1] }, $count, "$count numbers at the first call");
    return $lists[-1][-1];
}

sub max_id
{
    return $node->safe_psql('postgres', 'SELECT max_id FROM id_segment');
}

# Uses up what is in the buffers; max_id then.
sub use_up
{
    my $left = q{SELECT coalesce(block_end - next_id + 1, 0)
        + coalesce(next_block_end - next_block_start + 1, 0) FROM segment_status};
    while ((my $count = $node->safe_psql('postgres', $left)) > 0)
    {
        note_numbers($count);
    }
    return max_id();
}

# Kills that session or worker; the sessions that are given end with nothing.
sub kill_one
{
    my ($victim, @sessions) = @_;
    my $pid = $node->safe_psql('postgres', qq{SELECT pid FROM pg_stat_activity
        WHERE '$victim' IN (application_name, backend_type)});
    like($pid, qr/^\d+$/, "kill -9: $victim");
    kill 'KILL', $pid;
    foreach my $session (@sessions)
    {
        my ($rc, $out) = psql_finish($session);
        isnt($rc, 0, '... ends a session');
        is($out, '', '... which was given nothing');
    }
    ok($node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'),
        '... and the server is back by itself');
    return;
}

# Two callers, one for a number, one for a range. They wait.
sub callers
{
    my @callers = (psql_start($node, 'caller', q{SELECT segment_next('order')}),
        psql_start($node, 'claimer', q{SELECT segment_alloc('order', 7)}));
    busy_pid($node, $_) foreach 'caller', 'claimer';
    return @callers;
}

# What a crash costs is told by the next number: it follows max_id.
sub goes_on
{
    my ($reserved, $what) = @_;
    is(note_numbers(1), $reserved + 1, "$what: numbers go on above max_id");
    note_numbers(2 * STEP);
    return;
}

note_numbers(10);
# No prefetch from here on: what is reserved is then known exactly.
reconfigure($node, 'idgen.segment_prefetch' => 0);
foreach my $victim ($worker, 'caller', 'claimer')
{
    # Before the commit.
    my $before = use_up();
    my $holder = psql_start($node, 'holder', 'SELECT pg_advisory_lock(1), pg_sleep(1000)');
    ok(waits_for($node, 'holder', "'PgSleep'"), 'a session holds the lock');
    my @sessions = callers();
    ok(waits_for($node, $worker, "'advisory'"), 'the worker is before its commit');
    kill_one($victim, @sessions, $holder);
    is(max_id(), $before, '... having reserved nothing');
    goes_on($before, "$victim, before the commit");

    # After the commit, before anybody has the block.
    $before = use_up();
    standby_away($node);
    @sessions = callers();
    ok(waits_for($node, $worker, "'SyncRep'"), 'the worker is after its commit');
    my $reserved = max_id();
    cmp_ok($reserved, '>', $before, '... which reserved numbers');
    is($node->safe_psql('postgres', q{SELECT max(end_id) FROM segment_log}), $reserved,
        '... and logged them');
    kill_one($victim, @sessions);
    is(max_id(), $reserved, '... that stay reserved');
    my $waiting = psql_start($node, 'waiting', q{SELECT segment_next('order')});
    ok(waits_for($node, $worker, "'SyncRep'"), '... and the next block waits as well');
    ok(standby_back($node), '... until the standby is back');
    my ($rc, $number) = psql_finish($waiting);
    push @lists, [$number];
    is($number, $reserved + 1, "$victim, after the commit: the block is a gap");
    note_numbers(2 * STEP);
}

# A caller that waits for a row which another session holds.
foreach my $victim ('caller', 'claimer', 'holder', $worker)
{
    my $before = use_up();
    my $holder = psql_start($node, 'holder', q{BEGIN;
        SELECT FROM id_segment FOR UPDATE; SELECT pg_sleep(1000)});
    ok(waits_for($node, 'holder', "'PgSleep'"), 'a session holds the row');
    my @sessions = callers();
    ok($node->poll_query_until('postgres', q{SELECT last_error ~ 'is locked'
        FROM segment_status}), 'the worker has found it locked');
    kill_one($victim, @sessions, $holder);
    is(max_id(), $before, '... having reserved nothing');
    goes_on($before, "$victim, row locked");
}

is(repeats(@lists), '0|0', 'no number twice, each list rises');
my ($greatest) = sort { $b <=> $a } map { @$_ } @lists;
is(note_numbers(1), $greatest + 1, 'the last is above all');
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');

$node->stop;
done_testing();
