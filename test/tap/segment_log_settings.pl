# idgen.segment_log off writes no log while numbers go on, from the reload on;
# idgen.segment_log_retention removes rows that are older, at a worker's first
# pass, and no younger ones; 0 keeps all.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Without prefetch, so that ten numbers are one block.
my $node = idgen_node('main', conf => "idgen.segment_prefetch = 0
idgen.worker_idle_timeout = '1h'\n");
add_tag($node, 'order', 10);

sub logged
{
    return $node->safe_psql('postgres', q{SELECT string_agg(start_id || '-' || end_id,
        ' ' ORDER BY start_id) FROM segment_log WHERE biz_tag = 'order'});
}

sub max_id
{
    return $node->safe_psql('postgres', 'SELECT max_id FROM id_segment');
}

is(take($node, 'order', 10), 10, 'a block');
is(logged(), '1-10', '... is logged');
my $worker = worker_pid($node, 'postgres');
reconfigure($node, 'idgen.segment_log' => 'off');
is(take($node, 'order', 30), 40, 'off: numbers go on');
is(max_id(), 40, '... and max_id rises');
is($node->safe_psql('postgres', q{SELECT start_id, end_id FROM segment_alloc('order', 5)}),
    '41|45', '... and ranges come');
is(logged(), '1-10', '... which nobody logs');
reconfigure($node, 'idgen.segment_log' => 'on');
is(take($node, 'order', 10), 55, 'on again: numbers go on');
is($node->safe_psql('postgres', q{SELECT start_id, end_id FROM segment_alloc('order', 5)}),
    '56|60', '... and ranges');
is(logged(), '1-10 46-55 56-60', '... and the log, with a hole');
is(worker_pid($node, 'postgres'), $worker, 'all by one worker');
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'nothing overlaps');

# What the log has of before: rows of these ages.
sub add_log
{
    my ($tag, @ages) = @_;
    $node->safe_psql('postgres', qq{
        INSERT INTO segment_log (biz_tag, incarnation, start_id, end_id, proc, allocated_at)
        SELECT '$tag', gen_random_uuid(), 1, 10, 'old', clock_timestamp() - age::interval
        FROM unnest('{@{[ join ',', @ages ]}}'::text[]) age});
    return;
}

# Lets a new worker make its first pass, and waits until it has nothing to do.
sub first_pass
{
    my $pid = worker_pid($node, 'postgres');
    $node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
    worker_gone($node, $pid);
    take($node, 'order', 10);
    ok($node->poll_query_until('postgres', q{SELECT wait_event_type = 'Extension'
        FROM pg_stat_activity WHERE backend_type = 'idgen segment worker'}),
        'a new worker is done');
    return;
}

sub ages_kept
{
    my ($tag) = @_;
    return $node->safe_psql('postgres', qq{SELECT string_agg(
        round(extract(epoch FROM clock_timestamp() - allocated_at) / 3600)::text, ' '
        ORDER BY allocated_at) FROM segment_log WHERE biz_tag = '$tag'});
}

# Half an hour from the limit is more than a test takes.
add_log($_, '1000 days', '24 hours 30 minutes', '23 hours 20 minutes', '1 minute')
    foreach 'gone', 'kept';
reconfigure($node, 'idgen.segment_log_retention' => 0);
first_pass();
is(ages_kept('gone'), '24000 25 23 0', '0: all are kept');
reconfigure($node, 'idgen.segment_log_retention' => '2000d');
first_pass();
is(ages_kept('gone'), '24000 25 23 0', 'none is old enough');
my $logged = logged();
reconfigure($node, 'idgen.segment_log_retention' => '1d');
first_pass();
is(ages_kept('gone'), '23 0', 'those older than a day are gone');
is(ages_kept('kept'), '23 0', '... of every tag');
like(logged(), qr/^\Q$logged\E \d+-\d+$/, '... and none of the others');
reconfigure($node, 'idgen.segment_log' => 'off', 'idgen.segment_log_retention' => '1h');
first_pass();
is(ages_kept('gone'), '0', 'also while nothing is logged');
like(logged(), qr/^\Q$logged\E \d+-\d+$/, '... none of the others');
is(sqlstate_of($node, q{LOAD 'idgen'; SET idgen.segment_log_retention = 0}), '55P02',
    'no session has a say');

$node->stop;
done_testing();
