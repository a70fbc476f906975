# The log is kept for idgen.segment_log_retention, however many blocks were
# reserved in that time: it does not grow for ever.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "idgen.segment_prefetch = 0
idgen.segment_log_retention = '1d'\n");
add_tag($node, 'order', 10);
$node->safe_psql('postgres', q{
    INSERT INTO segment_log (biz_tag, incarnation, start_id, end_id, proc, allocated_at)
    SELECT 'old', gen_random_uuid(), n, n, 'old', now() - interval '2 days'
    FROM generate_series(1, 25000) n});
# One worker, with passes enough.
foreach my $pass (1 .. 20)
{
    take($node, 'order', 10);
    $node->poll_query_until('postgres', q{SELECT wait_event_type = 'Extension'
        FROM pg_stat_activity WHERE backend_type = 'idgen segment worker'});
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM segment_log WHERE biz_tag = 'old'}),
    0, 'what is older than the retention is gone');

$node->stop;
done_testing();
