# When idgen.coordinator is changed by a reload, no number of the old coordinator is
# issued any more once those who issue have heard of it, and the node goes back to
# where it came from.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

local $PostgreSQL::Test::Utils::timeout_default = 30;
my $member = idgen_node('member', conf => "cluster_name = 'member'\n");
my %server = (here => $member, a => fleet_coordinator('a'), b => fleet_coordinator('b'));
my %source = (here => '', map { $_ => draws_from($server{$_}) } 'a', 'b');
# Whose a number is: 0 of this server, 1 of a, 2 of b. Blocks that last for all of it.
my %share = (here => 0, a => 1, b => 2);
foreach my $name (sort keys %server)
{
    $server{$name}->safe_psql('postgres', "INSERT INTO id_segment (biz_tag, max_id, step)
        VALUES ('order', $share{$name} * 1000000000::bigint, 100000)");
}
my (%seen, @ids);
my $calls = q{SELECT segment_next('order'), snowflake_next()};

# A session that is connected all the time, and knows the tag's slot.
my $session = $member->background_psql('postgres', on_error_stop => 1);
sub note_calls
{
    my ($rows) = @_;
    my @rows = split /\n/, $rows;
    foreach (@rows)
    {
        my ($number, $id) = /^(\d+)\|(\d+)$/ or die "no number: $_";
        $seen{$number}++;
        push @ids, $id;
    }
    return map { /^(\d+)/; int(($1 - 1) / 1000000000) } @rows;
}

sub change
{
    my ($from, $to, $what) = @_;
    reconfigure($member, 'idgen.coordinator' => $source{$to});
    # One command each, in which they hear of it; the workers hear of it as they wait.
    $session->query('SELECT 1');
    ok($member->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity
        WHERE backend_type ~ '^idgen' AND backend_start < pg_conf_load_time()}),
        "$what: the workers of before leave");
    my @shares = note_calls($session->query($calls));
    push @shares, note_calls($member->safe_psql('postgres', $calls)) foreach 1 .. 3;
    push @shares, note_calls($session->query($calls)) foreach 1 .. 3;
    is(join('', @shares), $share{$to} x 7, "$what: all numbers come from $to");
    ok($server{$from}->poll_query_until('postgres', q{SELECT count(*) = 0 FROM node_lease
        WHERE holder_name = 'member' AND leased_until > clock_timestamp() + '100 ms'}),
        "$what: the node is given back to $from");
    is($server{$to}->safe_psql('postgres', q{SELECT count(*) FROM node_lease
        WHERE holder_name = 'member' AND leased_until > clock_timestamp()}), 1,
        "$what: ... and $to has leased one");
    return;
}

is(join('', note_calls($session->query($calls))), 0, 'first from here');
change(here => 'a', 'to a coordinator');
change(a => 'b', 'to another');
change(b => 'a', 'and back');
change(a => 'here', 'to none');
change(here => 'b', 'to a coordinator again');

# A worker that has gone idle leaves blocks behind.
reconfigure($member, 'idgen.worker_idle_timeout' => '100ms');
foreach ([ b => 'a' ], [ a => 'here' ], [ here => 'b' ], [ b => 'a' ])
{
    my ($from, $to) = @$_;
    note_calls($member->safe_psql('postgres', $calls));
    ok($member->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity
        WHERE backend_type = 'idgen segment worker'}), "idle: from $from to $to: no worker is left");
    reconfigure($member, 'idgen.coordinator' => $source{$to});
    # Nobody but this one is there to hear of it.
    my @shares = map { note_calls($member->safe_psql('postgres', $calls)) } 1 .. 3;
    push @shares, note_calls($session->query($calls)) foreach 1 .. 3;
    is(join('', @shares), $share{$to} x 6, '... all numbers come from there');
}

# Away and back before anybody draws: what is left of the first is good again or not,
# but no number comes twice.
foreach my $to ('b', 'here', 'a')
{
    reconfigure($member, 'idgen.coordinator' => $source{$to});
}
is(join('', map { note_calls($session->query($calls)) } 1 .. 5), '11111', 'away and back');

# A reload that changes nothing, and a parallel query, are no change.
reconfigure($member, 'idgen.worker_idle_timeout' => undef);
note_calls($session->query($calls));
next_landed($member, 'order');
my $waits = q{SELECT waits FROM segment_status WHERE biz_tag = 'order'};
my $before = $member->safe_psql('postgres', $waits);
my $parallel = $member->pg_version < 16 ? 'force_parallel_mode' : 'debug_parallel_query';
foreach (1 .. 3)
{
    $session->query("SET $parallel = on; SELECT count(*) FROM pg_class; SET $parallel = off");
    reconfigure($member, 'idgen.timeout' => 4000 + $_);
    note_calls($session->query($calls));
}
is($member->safe_psql('postgres', $waits), $before, 'other reloads and parallel queries drop nothing');
$session->quit;

my $count = keys %seen;
is(join(' ', grep { $seen{$_} > 1 } keys %seen), '', "$count numbers, none twice");
is(scalar(@ids), scalar(keys %{ { map { $_ => 1 } @ids } }), 'nor an id');
$_->stop foreach $member, $server{a}, $server{b};
done_testing();
