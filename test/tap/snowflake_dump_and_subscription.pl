# Leases outlive a dump, and are never taken over from another server.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "idgen.timeout = '60s'\n";
my $node = idgen_node('main', allows_streaming => 'logical', conf => $conf);
my $other = idgen_node('other', allows_streaming => 'logical', conf => $conf);
my $next = 'SELECT snowflake_next()';
my @ids = map { $node->safe_psql('postgres', $next) } 1 .. 3;
$node->safe_psql('postgres', 'CREATE TABLE item (id bigint PRIMARY KEY)');

# A subscription brings rows of all tables, but not these.
$other->safe_psql('postgres', $next);
my $own = $other->safe_psql('postgres', 'SELECT holder, epoch FROM node_lease');
$other->safe_psql('postgres', 'CREATE TABLE item (id bigint PRIMARY KEY)');
$node->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES');
my $from = $node->connstr('postgres');
$other->safe_psql('postgres', "CREATE SUBSCRIPTION everything CONNECTION \$\$$from\$\$
    PUBLICATION everything WITH (copy_data = false)");
my $worker = q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
    WHERE backend_type = 'idgen lease worker'};
foreach (1 .. 3)
{
    $node->safe_psql('postgres', $worker);
    push @ids, $node->safe_psql('postgres', $next);
}
$node->safe_psql('postgres', "INSERT INTO item VALUES ($ids[-1])");
ok($other->poll_query_until('postgres', 'SELECT count(*) = 1 FROM item'), 'replication goes on');
is($other->safe_psql('postgres', 'SELECT holder, epoch FROM node_lease'), $own,
    'and the leases are one\'s own');
is($other->safe_psql('postgres', 'SELECT count(*) FROM snowflake_layout'), 1, '... as is the layout');
$other->safe_psql('postgres', 'DROP SUBSCRIPTION everything');

# A dump of the lease database, restored into a new server.
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump';
my $holders = $node->safe_psql('postgres', 'SELECT max(leased_until) FROM node_lease');
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ], 'dump');
$node->stop;
my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init;
$restored->append_conf('postgresql.conf', $conf);
$restored->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'\n")
    if needs_preload($restored);
$restored->start;
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $restored->connstr('postgres'), '-f', $dump ],
    'restore');
is($restored->safe_psql('postgres', 'SELECT max(leased_until) FROM node_lease'), $holders,
    'the leases are there');
like(($restored->psql('postgres', $next))[2], qr/no Snowflake node is free/,
    'on another server they first have to end');
ok($restored->poll_query_until('postgres', 'SELECT max(leased_until) < now() FROM node_lease'), 'after a ttl');
push @ids, $restored->safe_psql('postgres', $next);
is(join(' ', sort { $a <=> $b } @ids), join(' ', @ids), 'ids go on above those of the dump');

$_->stop foreach $other, $restored;
done_testing();
