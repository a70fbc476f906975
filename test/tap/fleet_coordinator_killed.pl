# The coordinator is killed with -9 again and again, and so are servers, under load of
# clients at three servers: no id comes twice, each client's rise, and all go on.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $coordinator = fleet_coordinator('coordinator');
add_tag($coordinator, 'order', 100);
$coordinator->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (1000)');
my @members = map { fleet_member("member$_", [$coordinator]) } 1 .. 3;
my %statement = (
    order => q{SELECT segment_next('order') FROM generate_series(1, 10)},
    snowflake => q{SELECT snowflake_next() FROM generate_series(1, 10)});
my %clients = map { $_ => [] } keys %statement;

sub start_clients
{
    my ($member) = @_;
    foreach my $kind (keys %statement)
    {
        push @{ $clients{$kind} }, steady_client($member, $statement{$kind});
    }
    return;
}

# Waits until every client of these has seen more.
sub all_see_more
{
    my (@some) = @_;
    my %size = map { $_ => -s $_->{path} } @some;
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        return 1 unless grep { -s $_->{path} <= $size{$_} } @some;
        select undef, undef, undef, 0.1;
    }
    return 0;
}

start_clients($_) foreach @members;
my @all = map { @$_ } values %clients;
foreach my $round (1 .. 3)
{
    ok(all_see_more(@all), "$round: all clients go on");
    crash_postmaster($coordinator);
    $coordinator->start;
}
ok(all_see_more(@all), 'all clients go on');

# A server: its clients end with it.
my $fourth = fleet_member('fourth', [$coordinator]);
foreach my $round (1 .. 2)
{
    my $before = @{ $clients{order} };
    start_clients($fourth);
    my @new = map { @{$_}[ $before .. $#$_ ] } values %clients;
    ok(all_see_more(@new), "$round: the clients of another server go on");
    crash_postmaster($fourth);
    $fourth->start;
}

end_client($_) foreach map { @$_ } values %clients;
foreach my $kind (sort keys %clients)
{
    my @seen = map { [ seen_by($_) ] } @{ $clients{$kind} };
    my @lists = map { $_->[0] } @seen;
    is(repeats(@lists), '0|0',
        "$kind: none twice among " . scalar(map { @$_ } @lists) . ', each client rises');
    my %errors = map { $_ => 1 } map { keys %{ $_->[1] } } @seen;
    is_deeply([ grep { !/^(08006|55000|57P0[123])$/ } sort keys %errors ], [],
        '... and no error but such as tell of it');
}
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');

$_->stop foreach @members, $fourth, $coordinator;
done_testing();
