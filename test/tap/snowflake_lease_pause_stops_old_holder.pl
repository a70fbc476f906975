# All processes of server A stand while its lease ends and B takes its node, with the
# next epoch; then A goes on. It brings an error, or an id of its own old range; also
# when a session stands between the clock and the id (snowflake_no_window).
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
# One node, so that B has to take A's.
$coordinator->safe_psql('postgres', q{INSERT INTO snowflake_layout
    (node_bits, sequence_bits, ttl_ms) VALUES (0, 16, 2000)});
my @members = map { fleet_member($_, [$coordinator], conf => "idgen.timeout = '2s'\n") } 'a', 'b';
my $lease = 'SELECT holder_name, epoch FROM node_lease';
my @lists;

sub take_many
{
    my ($node) = @_;
    push @lists, [ split /\n/,
        insist_on($node, 'SELECT snowflake_next() FROM generate_series(1, 20000)') ];
    return;
}

my $late = 0;
foreach my $round (1 .. 2)
{
    foreach my $pause (0, 1)
    {
        my ($old, $new) = @members;
        take_many($old);
        my ($holder, $epoch) = split /\|/, $coordinator->safe_psql('postgres', $lease);
        is($holder, $old->name, "$round: " . $old->name . ' holds the node');
        my $session = psql_start($old, 'late', ($pause ? 'SELECT idgen_stop_in_next_call();' : '')
            . ' SELECT snowflake_next() FROM generate_series(1, 10000000)');
        busy_pid($old, 'late');
        my @stopped = stop_server($old);
        ok($coordinator->poll_query_until('postgres',
            'SELECT leased_until <= clock_timestamp() FROM node_lease'), '... until its end');
        my $floor = $coordinator->safe_psql('postgres',
            'SELECT snowflake_floor(leased_until, 1704067200000, 0, 16) FROM node_lease');
        take_many($new);
        is($coordinator->safe_psql('postgres', $lease), $new->name . '|' . ($epoch + 1),
            '... and ' . $new->name . ' takes it with the next epoch');

        go_on(@stopped);
        # The session that stopped itself stands until it is told to go on.
        my $stands = $old->safe_psql('postgres',
            q{SELECT pid FROM pg_stat_activity WHERE application_name = 'late'});
        kill 'CONT', $stands if $stands;
        my ($rc, $out, $err) = psql_finish($session);
        isnt($rc, 0, '... then the old holder gets an error') or diag $err;
        like($err, qr/no node was leased|no Snowflake node is free/, '... that tells why');
        # psql keeps to itself what a failed statement has brought.
        push @lists, [ $out =~ /^(\d+)$/mg ];
        $late += @{ $lists[-1] };
        cmp_ok($_, '<', $floor, '... or an id of its old range') foreach @{ $lists[-1] };
        take_many($new);
        @members = reverse @members;
        ok($coordinator->poll_query_until('postgres',
            'SELECT leased_until <= clock_timestamp() FROM node_lease'), 'that lease ends, too');
        # The next round begins with the other one.
        take_many($members[0]);
    }
}
my ($twice) = split /\|/, repeats(@lists);
is($twice, 0, 'no id twice among ' . scalar(map { @$_ } @lists));
cmp_ok(scalar(map { @$_ } @lists), '>', 100000, '... which are more than 100,000');

$_->stop foreach @members, $coordinator;
done_testing();
