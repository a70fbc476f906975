# The coordinator fails over to a standby, with clients at three servers. Where the
# standby is synchronous nothing is lost, and nothing left out; where it lags, the gap
# of idgen.promotion_gap covers what it lacks. Without the gap numbers come twice.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = fleet_coordinator('first', allows_streaming => 1,
    conf => "idgen.promotion_gap = 0\n");
add_tag($primary, 'order', 100);
$primary->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (2000)');
my %all = (order => [], snowflake => []);

sub make_standby
{
    my ($of, $name) = @_;
    $of->backup($name);
    my $standby = PostgreSQL::Test::Cluster->new($name);
    $standby->init_from_backup($of, $name, has_streaming => 1);
    $standby->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
    $standby->start;
    return $standby;
}

# Takes of each kind at each server until every one succeeds; keeps what came.
sub take_everywhere
{
    my ($count, @members) = @_;
    foreach my $member (@members)
    {
        push @{ $all{order} }, [ split /\n/, insist_on($member,
            "SELECT segment_next('order') FROM generate_series(1, $count)") ];
        push @{ $all{snowflake} }, [ split /\n/, insist_on($member,
            "SELECT snowflake_next() FROM generate_series(1, $count)") ];
    }
    return;
}

sub repeated
{
    my ($kind) = @_;
    my ($twice) = split /\|/, repeats(@{ $all{$kind} });
    return $twice;
}

sub fail_over
{
    my ($from, $to) = @_;
    crash_postmaster($from);
    $to->promote;
    return;
}

my $second = make_standby($primary, 'second');
my @members = map { fleet_member("member$_", [ $primary, $second ]) } 1 .. 3;

# Synchronous, under load.
reconfigure($primary, synchronous_standby_names => '*');
take_everywhere(150, @members);
my @clients = map { steady_client($_, q{SELECT segment_next('order')}) } @members;
$primary->poll_query_until('postgres', 'SELECT max_id > 2000 FROM id_segment');
fail_over($primary, $second);
$second->poll_query_until('postgres', "SELECT max_id > 4000 FROM id_segment");
foreach my $client (@clients)
{
    end_client($client);
    my ($numbers, $errors) = seen_by($client);
    cmp_ok(scalar @$numbers, '>', 100, 'a client had numbers before and after');
    push @{ $all{order} }, $numbers;
}
take_everywhere(150, @members);
is(repeated($_), 0, "synchronous standby: $_, none twice") foreach 'order', 'snowflake';
is($second->safe_psql('postgres', q{SELECT count(*) FROM segment_log
    WHERE proc ~ 'promotion_gap'}), 0, '... and nothing left out');

# Lagging: what is reserved from now on is unknown to the standby.
sub lagging_standby
{
    my ($of, $name) = @_;
    my $standby = make_standby($of, $name);
    $of->wait_for_catchup($standby);
    $standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
    $standby->reload;
    $standby->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_wal_receiver');
    reconfigure($_, 'idgen.coordinator' => draws_from($of, $standby)) foreach @members;
    take_everywhere(500, @members);
    cmp_ok($of->safe_psql('postgres', 'SELECT max_id FROM id_segment'), '>',
        $standby->safe_psql('postgres', 'SELECT max_id FROM id_segment'), 'the standby lags');
    return $standby;
}

my $third = lagging_standby($second, 'third');
$third->append_conf('postgresql.conf', "idgen.promotion_gap = 100\n");
$third->reload;
my $known = $third->safe_psql('postgres', 'SELECT max_id FROM id_segment');
fail_over($second, $third);
take_everywhere(150, @members);
is(repeated($_), 0, "lagging standby: $_, none twice") foreach 'order', 'snowflake';
is($third->safe_psql('postgres', q{SELECT start_id, end_id FROM segment_log
    WHERE proc ~ 'promotion_gap'}), ($known + 1) . '|' . ($known + 100 * 100),
    '... since a hundred blocks are left out, once');

my $fourth = lagging_standby($third, 'fourth');
$fourth->append_conf('postgresql.conf', "idgen.promotion_gap = 0\n");
$fourth->reload;
fail_over($third, $fourth);
take_everywhere(500, @members);
cmp_ok(repeated('order'), '>', 0, 'negative_promotion_without_gap: numbers come twice');
is(repeated('snowflake'), 0, '... but no Snowflake id, whose leases are fenced');

$_->stop foreach @members, $fourth;
done_testing();
