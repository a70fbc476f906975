# Faults at random, under load of clients at three servers that draw from one
# coordinator, for SOAK_MINUTES, from the seed SOAK_SEED. Everything that a client was
# ever given is kept: no id may come twice, and each client's must rise.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib "$FindBin::RealBin/../tap";
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $minutes = $ENV{SOAK_MINUTES} || 1;
my $seed = $ENV{SOAK_SEED} || int(rand(1_000_000));
srand($seed);
note "seed $seed, $minutes minutes";

my $conf = "restart_after_crash = on\nlog_statement = none\nidgen.timeout = '3s'\n";
my $coordinators = 1;
my $coordinator = fleet_coordinator('coordinator1', allows_streaming => 1, conf => $conf);
$coordinator->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (2000)');
add_tag($coordinator, 'order', 100);
my $standby = make_standby();
my @members = map { fleet_member("member$_", [ $coordinator, $standby ], conf => $conf) } 1 .. 3;

my %statements = (
    segment => [ q{SELECT segment_next('order') FROM generate_series(1, 20)},
        q{BEGIN; SELECT segment_next('order') FROM generate_series(1, 5); ROLLBACK} ],
    # Of the same tag, but not in one order with those.
    alloc => [ q{SELECT generate_series(start_id, end_id) FROM segment_alloc('order', 7)} ],
    snowflake => [ q{SELECT snowflake_next() FROM generate_series(1, 20)},
        q{BEGIN; SELECT snowflake_next(); ROLLBACK} ],
    uuid => [ q{SELECT uuidv7_mono() FROM generate_series(1, 20)} ]);
my (@clients, %faults);

sub make_standby
{
    my $name = 'coordinator' . ++$coordinators;
    $coordinator->backup($name);
    my $new = PostgreSQL::Test::Cluster->new($name);
    $new->init_from_backup($coordinator, $name, has_streaming => 1);
    $new->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
    $new->start;
    reconfigure($coordinator, synchronous_standby_names => '*');
    return $new;
}

# A client of each kind at each server; one that has ended, with its server, is
# followed by another.
sub keep_clients
{
    foreach my $member (@members)
    {
        foreach my $kind (sort keys %statements)
        {
            next if grep { $_->{member} == $member && $_->{kind} eq $kind
                && $_->{run}->pumpable } @clients;
            my $client = steady_client($member, "\\timing on\n" . join ";\n", @{ $statements{$kind} });
            push @clients, { %$client, member => $member, kind => $kind };
        }
    }
    return;
}

# Until every client has got more, and for how long that took. 0: one never did.
sub all_go_on
{
    my %size = map { $_->{path} => -s $_->{path} } @clients;
    my $start = time;
    while (time - $start < 120)
    {
        keep_clients();
        my @live = grep { $_->{run}->pumpable } @clients;
        return 1 unless grep { -s $_->{path} <= ($size{ $_->{path} } // 0) + 100 } @live;
        sleep 0.05;
    }
    return 0;
}

sub one_of { return $_[ int rand @_ ] }

# What a server says, which may just be in recovery; '' if that is nothing.
sub answer_of
{
    my ($node, $sql) = @_;
    my ($rc, $out) = $node->psql('postgres', $sql);
    return $rc == 0 ? $out : '';
}

sub worker_of
{
    my ($member) = @_;
    return answer_of($member, q{SELECT pid FROM pg_stat_activity
        WHERE backend_type ~ '^idgen' ORDER BY random() LIMIT 1});
}

sub stand_still
{
    my (@processes) = @_;
    sleep 0.2 + rand 2.8;
    go_on(@processes);
    return;
}

# While a session at the coordinator holds something.
sub while_held
{
    my ($sql) = @_;
    psql_finish(psql_start($coordinator, 'holder',
        "BEGIN; SET LOCAL synchronous_commit = local; $sql; SELECT pg_sleep(" . (0.2 + rand 2) . '); ROLLBACK'));
    return;
}

sub crash
{
    my ($node) = @_;
    my ($pid) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
    $node->kill9;
    while (kill 0, $pid) { sleep 0.02 }
    return;
}

my %fault = (
    'kill -9 of a worker' => sub {
        my $pid = worker_of(one_of(@members));
        kill 'KILL', $pid if $pid;
    },
    'SIGTERM to a worker' => sub {
        my $pid = worker_of(one_of(@members));
        kill 'TERM', $pid if $pid;
    },
    'cancel of a worker' => sub {
        my $pid = worker_of(one_of(@members));
        kill 'INT', $pid if $pid;
    },
    'kill -9 of a server' => sub {
        my $member = one_of(@members);
        crash($member);
        $member->start;
    },
    'a server stands still' => sub { stand_still(stop_server(one_of(@members))) },
    'a session stands still' => sub {
        my $pid = answer_of(one_of(@members), q{SELECT pid FROM pg_stat_activity
            WHERE application_name = 'load' ORDER BY random() LIMIT 1});
        kill 'STOP', $pid if $pid;
        stand_still($pid) if $pid;
    },
    'the coordinator stands still' => sub { stand_still(stop_server($coordinator)) },
    'its standby stands still' => sub { stand_still(stop_server($standby)) },
    'kill -9 of the coordinator' => sub { crash($coordinator); $coordinator->start },
    'restart of the coordinator' => sub { $coordinator->restart },
    'its connections are ended' => sub {
        answer_of($coordinator, q{SELECT pg_terminate_backend(pid)
            FROM pg_stat_activity WHERE usename = 'idgen_fleet'});
    },
    'failover of the coordinator' => sub {
        crash($coordinator);
        $standby->promote;
        $coordinator = $standby;
        $standby = make_standby();
        reconfigure($_, 'idgen.coordinator' => draws_from($coordinator, $standby)) foreach @members;
    },
    'the tag is locked' => sub { while_held('SELECT FROM id_segment FOR UPDATE') },
    'the table is locked' => sub { while_held('LOCK id_segment IN SHARE MODE') },
    'leases are locked' => sub { while_held('SELECT FROM node_lease FOR UPDATE') },
    'another step' => sub {
        answer_of($coordinator, 'SET synchronous_commit = local; UPDATE id_segment SET step = '
            . one_of(10, 100, 1000));
    },
    'the tag is set on' => sub {
        answer_of(one_of(@members), q{SELECT segment_set('order',
            (SELECT max(end_id) + 5000 FROM segment_alloc('order', 1)))});
    },
    'a clock steps' => sub {
        my $member = one_of(@members);
        my $ms = int(rand 400) - 200;
        answer_of($member, "SELECT idgen_shift_clock(interval '$ms ms')");
        sleep rand 1;
        answer_of($member, q{SELECT idgen_shift_clock(interval '0')});
    });

keep_clients();
ok(all_go_on(), 'all clients have ids') or BAIL_OUT('no ids');
my $end = time + 60 * $minutes;
my $stuck = '';
while (time < $end && !$stuck)
{
    my $name = one_of(sort keys %fault);
    note sprintf '%5.0f s left: %s', $end - time, $name;
    $fault{$name}->();
    $faults{$name}++;
    $stuck = $name unless all_go_on();
}
is($stuck, '', 'after each fault all clients go on');
end_client($_) foreach @clients;

# What they were given, by files: there may be millions. A client that was killed may
# have been cut short within its last line.
sub shell
{
    my ($command) = @_;
    my $out = `$command`;
    chomp $out;
    return $out;
}

sub ids_of
{
    my (@kinds) = @_;
    my @paths = map { $_->{path} } grep { my $kind = $_->{kind}; grep { $_ eq $kind } @kinds } @clients;
    return "for f in @paths; do echo; head -n -1 \$f; done | grep -E '^([0-9]+|[0-9a-f-]{36}|)\$'";
}

# Of equal length, or the longer is the greater. An empty line begins a client.
my $falls = q{awk '$0 == "" {last = ""; next}
    last != "" && length($0) <= length(last) && (length($0) < length(last) || $0 "" <= last "") {n++}
    {last = $0} END {print n + 0}'};
foreach my $kind (sort keys %statements)
{
    my $count = shell(ids_of($kind) . " | grep -c .");
    cmp_ok($count, '>', 0, "$kind: $count ids were issued");
    is(shell(ids_of($kind) . " | LC_ALL=C $falls"), 0, "$kind: each client's rise");
}
foreach my $kinds ([ 'segment', 'alloc' ], ['snowflake'], ['uuid'])
{
    is(shell(ids_of(@$kinds) . ' | grep . | LC_ALL=C sort | uniq -d | wc -l'), 0,
        "@$kinds: none came twice");
}

my $longest = 0;
my %errors;
foreach my $path (map { $_->{path} } @clients)
{
    $errors{$_}++ foreach slurp_file("$path.err") =~ /ERROR:  (\w{5})$/mg;
    my $wait = shell("awk '/^Time: / && \$2 > m {m = \$2} END {print m + 0}' $path");
    $longest = $wait if $wait > $longest;
}
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap in the log');
is_deeply([ grep { !/^(08006|53000|55000|55P03|57014|57P0[123])$/ } sort keys %errors ], [],
    'no error but such as tell of a fault');

my $total = 0;
$total += $_ foreach values %faults;
diag "soak of $minutes minutes, seed $seed: $total faults";
diag sprintf '  %4d x %s', $faults{$_}, $_ foreach sort keys %faults;
diag 'errors: ' . join ', ', map { "$errors{$_} x $_" } sort keys %errors;
diag sprintf 'longest call: %.0f ms', $longest;

$_->stop('immediate') foreach @members, $standby, $coordinator;
done_testing();
