# Two servers forced to one node, with no lease between them: ids come twice, so the
# check that other tests rely on finds them.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @nodes = map { idgen_node("alone$_", conf => "idgen.node_id = 5\n") } 1 .. 2;
$_->safe_psql('postgres', 'SELECT snowflake_next()') foreach @nodes;
my $twice = 0;
foreach (1 .. 20)
{
    my @sessions = map { psql_start($_, 'load',
        q{SELECT snowflake_next() FROM generate_series(1, 50000)}) } @nodes;
    my @lists = map { [ split /\n/, (psql_finish($_))[1] ] } @sessions;
    is(scalar(@$_), 50000, '50,000 ids of a server') foreach @lists;
    ($twice) = split /\|/, repeats(@lists);
    last if $twice > 0;
}
cmp_ok($twice, '>', 0, "negative_two_processes_same_node: $twice ids came twice");

# The same two on one lease table: the second gets no node.
my $coordinator = fleet_coordinator('coordinator');
$_->append_conf('postgresql.conf', "idgen.coordinator = '@{[draws_from($coordinator)]}'\n")
    foreach @nodes;
$_->restart foreach @nodes;
is($nodes[0]->safe_psql('postgres', 'SELECT snowflake_node(snowflake_next())'), 5,
    'with a coordinator one of them gets the node');
is(sqlstate_of($nodes[1], 'SELECT snowflake_next()'), '55000', '... and the other does not');

$_->stop foreach @nodes, $coordinator;
done_testing();
