# Where worker slots are scarce every database still gets its numbers, as idle
# workers make room; only where no slot can be had does an error say so.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One of the slots is the logical replication launcher's.
my $node = idgen_node('main', conf => "max_worker_processes = 9\nidgen.timeout = '60s'
max_parallel_workers = 0\nidgen.worker_idle_timeout = '1h'\nlog_statement = none\n");
my @databases = map { "db$_" } 1 .. 9;
$node->safe_psql('postgres', 'CREATE DATABASE template_tags');
$node->safe_psql('template_tags', q{CREATE EXTENSION idgen;
    INSERT INTO id_segment (biz_tag, step) VALUES ('order', 100)});
$node->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE template_tags") foreach @databases;

my $workers = q{SELECT count(*) FROM pg_stat_activity
    WHERE backend_type = 'idgen segment worker'};

# More workers than one may have made room. A question about a tag that is not
# there needs a worker and takes no number.
sub fill_slots
{
    foreach my $database (@databases)
    {
        last if $node->safe_psql('postgres', $workers) >= 8;
        $node->psql($database, q{SELECT segment_next('nobody')})
            if worker_pid($node, $database) eq '';
    }
    return;
}

foreach my $round (1 .. 2)
{
    my @sessions = map { psql_start($node, 'taker',
        q{SELECT count(DISTINCT segment_next('order')) FROM generate_series(1, 1000)},
        db => $_) } @databases;
    my @results = map { join ' ', psql_finish($_) } @sessions;
    is(scalar(grep { $_ eq '0 1000 ' } @results), 9, 'nine databases at once, eight slots')
        or diag join "\n", @results;
    fill_slots();
    is($node->safe_psql('postgres', $workers), 8, 'all eight slots serve workers');
}
is($node->safe_psql($_, q{SELECT max(segment_next('order')) FROM generate_series(1, 1)}),
    2001, "$_ has its own numbers") foreach @databases;

# All slots taken by workers that cannot leave: they are stopped.
fill_slots();
my ($without) = grep { worker_pid($node, $_) eq '' } @databases;
my $left = 0;
my @pids = split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'idgen segment worker'});
kill 'STOP', @pids;
sub call
{
    my ($rc, $out, $err) = $node->psql($without, q{\set VERBOSITY verbose
        SET idgen.timeout = '200ms'; SELECT segment_next('order')});
    return $rc == 0 ? $out : $err;
}
my $result;
while (($result = call()) =~ /^\d+$/)
{
    $left++;
    last if $left > 300;
}
cmp_ok($left, '>', 0, "without a slot: $left numbers come from the buffer");
like($result, qr/ERROR:  53000: .*HINT:  .*max_worker_processes/s, '... then 53000');
kill 'CONT', @pids;
like($node->safe_psql($without, q{SELECT segment_next('order')}), qr/^\d+$/,
    'works again when a slot is free');

$node->stop;

# Not one slot is there for a worker.
my $bare = idgen_node('bare', conf => "max_worker_processes = 1\nidgen.timeout = '200ms'\n");
add_tag($bare, 'order', 100);
is(sqlstate_of($bare, q{SELECT segment_next('order')}), '53000', 'no slot at all: 53000');
is(sqlstate_of($bare, q{SELECT segment_alloc('order')}), '53000', '... for a claim, too');
$bare->append_conf('postgresql.conf', "max_worker_processes = 2\n");
$bare->restart;
is(take($bare, 'order', 1), 1, 'with one, numbers begin at the first');
$bare->stop;

done_testing();
