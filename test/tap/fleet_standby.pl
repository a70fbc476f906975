# With a coordinator a standby issues Snowflake ids of a node of its own, and goes on
# when it is promoted, with the old primary still there; segments it has only then.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

local $PostgreSQL::Test::Utils::timeout_default = 60;
my $coordinator = fleet_coordinator('coordinator');
add_tag($coordinator, 'order', 10);
my $primary = fleet_member('primary', [$coordinator], allows_streaming => 1);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "cluster_name = 'standby'\n");
$standby->start;

my $ids = 'SELECT snowflake_next() FROM generate_series(1, 100)';
my $number = q{SELECT segment_next('order')};
my @lists;
sub draw
{
    my ($node) = @_;
    push @lists, [ split /\n/, $node->safe_psql('postgres', $ids) ];
    return $node->safe_psql('postgres', "SELECT snowflake_node($lists[-1][-1])");
}

my %node = (primary => draw($primary), standby => draw($standby));
isnt($node{standby}, $node{primary}, 'the standby has a node of its own');
is($coordinator->safe_psql('postgres', "SELECT holder_name FROM node_lease
    WHERE node_id = $node{standby} AND leased_until > clock_timestamp()"), 'standby',
    '... leased by its own name');
is($primary->safe_psql('postgres', 'SELECT count(*) FROM node_lease'), 0, 'none is leased here');
like($standby->safe_psql('postgres', 'SELECT coordinator FROM snowflake_status'),
    qr/ port ${\$coordinator->port}$/, 'it shows its connection');
foreach my $call (q{segment_next('order')}, q{segment_alloc('order')}, q{segment_set('order', 500)})
{
    is(sqlstate_of($standby, "SELECT $call"), '25006', "on the standby: $call");
}
is(worker_pid($standby, 'postgres'), '', '... and no worker is started for it');

# Without a coordinator it has none; with it again, they rise on.
reconfigure($standby, 'idgen.coordinator' => '');
comes_to($standby, 'SELECT snowflake_next()', qr/25006: .*HINT: .*idgen\.coordinator/s,
    'without a coordinator the standby has no node');
ok($coordinator->poll_query_until('postgres', "SELECT leased_until < clock_timestamp()
    FROM node_lease WHERE node_id = $node{standby}"), '... and has given back the one it had');
reconfigure($standby, 'idgen.coordinator' => undef);
push @{ $lists[-1] }, insist_on($standby, 'SELECT snowflake_next()');

# Promoted under load; the old primary does not know.
my $directory = PostgreSQL::Test::Utils::tempdir;
append_to_file("$directory/statements", 'SELECT snowflake_next() FROM generate_series(1, 20);' . "\n")
    foreach 1 .. 50000;
my %output = (primary => "$directory/primary", standby => "$directory/standby");
my @clients = (call_loop($primary, 'load', "$directory/statements", $output{primary}),
    call_loop($standby, 'load', "$directory/statements", $output{standby}));
sub grows
{
    my ($file) = @_;
    my $size = -s $file // 0;
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        return 1 if (-s $file // 0) > $size + 2000;
        select undef, undef, undef, 0.1;
    }
    return 0;
}
ok(grows($output{$_}), "ids come on the $_") foreach sort keys %output;
$standby->promote;
ok(grows($output{$_}), "promoted: they come on on the $_") foreach sort keys %output;
$_->psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'load'}) foreach $primary, $standby;
$_->finish foreach @clients;
foreach my $name (sort keys %output)
{
    is(slurp_file("$output{$name}.err") =~ s/^.*(terminating connection|server closed|terminated abnormally|before or while processing|connection to server was lost).*\n//mgr,
        '', "no call on the $name failed");
    push @lists, [ map { s/\n//r } numbers_in($output{$name}) ];
}
draw($_) foreach $primary, $standby;
is(repeats(@lists), '0|0', scalar(map { @$_ } @lists) . ' ids of both: none twice, each session rises');

# Now it has segments, too: of the same coordinator.
my @numbers = map { ($primary->safe_psql('postgres', $number), insist_on($standby, $number)) } 1 .. 25;
is(twice_in(@numbers), 0, 'numbers come on both, none twice');
cmp_ok($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), '==', 0, 'no blocks overlap');
$_->stop foreach $standby, $primary, $coordinator;
done_testing();
