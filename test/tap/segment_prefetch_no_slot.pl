# A prefetch for which no worker slot was free is asked for again by later calls:
# once a slot is, the next block lands before anybody has to wait for it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One slot for workers; the other is the logical replication launcher's.
my $node = idgen_node('main', conf => "max_worker_processes = 2\nmax_parallel_workers = 0
idgen.timeout = '60s'\nidgen.worker_idle_timeout = '1h'\n");
add_tag($node, 'order', 1000);
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION idgen');
add_tag($node, 'order', 1000, db => 'other');

is(take($node, 'order', 500), 500, 'a first block, no next one yet');
my $pid = worker_pid($node, 'postgres');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
worker_gone($node, $pid);
take($node, 'order', 1, db => 'other');
$pid = worker_pid($node, 'other');
kill 'STOP', $pid;
is(take($node, 'order', 1), 501, 'a prefetch is due; the only slot is taken');
kill 'CONT', $pid;
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok(worker_gone($node, $pid), 'then it is free');
is(take($node, 'order', 300), 801, 'later calls');
ok(next_landed($node, 'order'), '... ask again, and the next block lands');
is(take($node, 'order', 300), 1101, '... which follows');
is($node->safe_psql('postgres', q{SELECT waits FROM segment_status WHERE biz_tag = 'order'}),
    1, '... and nobody has waited');

$node->stop;
done_testing();
