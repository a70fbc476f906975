# Sessions that are terminated while they wait leave nothing behind: others can
# still claim numbers, and blocks are no larger than what is waited for.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "idgen.timeout = '60s'\n");
add_tag($node, $_, 1) foreach 'held', 'free';
my $holder = psql_start($node, 'holder', q{BEGIN;
    SELECT 1 FROM id_segment WHERE biz_tag = 'held' FOR UPDATE; SELECT pg_sleep(1000)});
waits_for($node, 'holder', "'PgSleep'");
foreach my $round (1 .. 9) # there is room for 256 claims
{
    my @sessions = map { psql_start($node, 'ended', $_ > 1
        ? q{SELECT segment_alloc('held', 5)} : q{SELECT segment_next('held')}) } 1 .. 30;
    $node->poll_query_until('postgres', q{SELECT count(*) = 30 FROM pg_stat_activity
        WHERE application_name = 'ended' AND state = 'active'});
    # So each has opened its claim, as the worker has been round since.
    $node->psql('postgres', q{SET idgen.timeout = '200ms'; SELECT segment_next('held')});
    $node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'ended'});
    psql_finish($_) foreach @sessions;
}
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'holder'});
psql_finish($holder);
is(sqlstate_of($node, q{SET idgen.timeout = '5s'; SELECT segment_alloc('free', 5)}), '00000',
    'claims go on');
my $first = take($node, 'held', 1);
is($node->safe_psql('postgres', q{SELECT block_end - block_start + 1 FROM segment_status
    WHERE biz_tag = 'held'}), 1, 'a block of the step, for nobody else waits');

$node->stop;
done_testing();
