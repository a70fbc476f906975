# A prefetch that the worker left unserved, for whatever reason, is asked for
# again by later calls: the next block lands before anybody has to wait for it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant STEP => 1000;
my $worker = 'idgen segment worker';
my $node = idgen_node('main', conf => "idgen.timeout = '1h'\nidgen.worker_idle_timeout = '1h'\n");
# Holds the worker in its pass, when somebody has the advisory lock.
$node->safe_psql('postgres', q{
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$;
    CREATE TRIGGER hold BEFORE UPDATE ON id_segment FOR EACH ROW EXECUTE FUNCTION hold()});

sub status
{
    my ($tag, $columns) = @_;
    return $node->safe_psql('postgres',
        "SELECT $columns FROM segment_status WHERE biz_tag = '$tag'");
}

# What keeps the worker from serving a prefetch, and how that is seen.
my %case = (
    'row locked' => {
        holds => q{BEGIN; SELECT FROM id_segment WHERE biz_tag = 'row locked' FOR UPDATE},
        seen => q{SELECT last_error ~ 'is locked' FROM segment_status
            WHERE biz_tag = 'row locked'} },
    'table locked' => {
        holds => q{BEGIN; LOCK TABLE id_segment IN SHARE MODE},
        seen => q{SELECT last_error ~ 'is locked' FROM segment_status
            WHERE biz_tag = 'table locked'} },
    'in its pass' => {
        holds => 'SELECT pg_advisory_lock(1)',
        seen => qq{SELECT wait_event = 'advisory' FROM pg_stat_activity
            WHERE backend_type = '$worker'} });
foreach my $tag (sort keys %case)
{
    add_tag($node, $tag, STEP);
    take($node, $tag, STEP / 2);
    is(status($tag, 'waits, next_block_start'), '1|', "$tag: a first block, no next one yet");
    my $holder = psql_start($node, 'holder', "$case{$tag}{holds}; SELECT pg_sleep(1000)");
    ok(waits_for($node, 'holder', "'PgSleep'"), '... and somebody in the way');
    # The first call that is due asks.
    take($node, $tag, 1);
    ok($node->poll_query_until('postgres', $case{$tag}{seen}), '... of the prefetch');
    my $pid = worker_pid($node, 'postgres');
    $node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
    ok(worker_gone($node, $pid), '... and the worker leaves');
    $node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'holder'});
    psql_finish($holder);
    is(worker_pid($node, 'postgres') . status($tag, 'next_block_start'), '',
        '... and nobody serves it');

    # Up to where the next attempt is due.
    my $taken = take($node, $tag, STEP / 2 - 100);
    ok(next_landed($node, $tag), 'later calls ask again, and the next block lands');
    isnt(worker_pid($node, 'postgres'), $pid, '... by a new worker');
    is(take($node, $tag, 200), $taken + 200, '... which follows without a hole');
    is(status($tag, 'waits, last_error'), '1|', '... and nobody has waited');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');

$node->stop;
done_testing();
