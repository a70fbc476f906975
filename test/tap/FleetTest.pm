# FleetTest.pm: several servers that draw from one coordinator.
package FleetTest;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use FindBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(fleet_coordinator fleet_member draws_from stop_server go_on
    insist_on outcome comes_to twice_in subscribe apply_errors steady_client
    end_client seen_by gathered_conflicts);

my $clients = 0;

# A coordinator with the role that members use, which can do nothing else.
sub fleet_coordinator
{
    my ($name, %option) = @_;
    my $node = idgen_node($name, allows_streaming => $option{allows_streaming} // 0,
        conf => "log_statement = none\n" . ($option{conf} // ''));
    my $script = "$FindBin::RealBin/../../script/fleet-role.sql";
    $node->safe_psql('postgres', slurp_file($script), extra_params => [ '-v', 'role=idgen_fleet' ]);
    return $node;
}

# What a member's idgen.coordinator is, for one or more servers.
sub draws_from
{
    my (@nodes) = @_;
    my $hosts = join ',', map { $_->host } @nodes;
    my $ports = join ',', map { $_->port } @nodes;
    return "host=$hosts port=$ports dbname=postgres user=idgen_fleet";
}

# A server that draws from those coordinators.
sub fleet_member
{
    my ($name, $coordinators, %option) = @_;
    my $source = draws_from(@$coordinators);
    return idgen_node($name, allows_streaming => $option{allows_streaming} // 0,
        preload => $option{preload}, conf => "cluster_name = '$name'\nlog_statement = none\nidgen.coordinator = '$source'\n"
            . ($option{conf} // ''));
}

# All processes of a server: the postmaster and its children.
sub processes_of
{
    my ($node) = @_;
    my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
    my @children = split ' ', slurp_file("/proc/$postmaster/task/$postmaster/children");
    return ($postmaster, @children);
}

# Stops all processes of a server, and returns them for go_on().
sub stop_server
{
    my ($node) = @_;
    my @stopped = processes_of($node);
    kill 'STOP', @stopped;
    # The postmaster stands, so there are no more than these.
    my %known = map { $_ => 1 } @stopped;
    my @late = grep { !$known{$_} } processes_of($node);
    kill 'STOP', @late;
    return (@stopped, @late);
}

sub go_on
{
    my (@stopped) = @_;
    kill 'CONT', reverse @stopped;
    return;
}

# The result of a statement, once it succeeds.
sub insist_on
{
    my ($node, $sql) = @_;
    my ($rc, $out, $err);
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        ($rc, $out, $err) = $node->psql('postgres', $sql);
        return $out if $rc == 0;
        select undef, undef, undef, 0.1;
    }
    die "never succeeds: $sql: $err";
}

# Starts a client that runs a statement many times, whatever error it gets; what it
# is given and the SQLSTATEs of its errors stand in two files.
sub steady_client
{
    my ($node, $sql) = @_;
    my $path = PostgreSQL::Test::Utils::tempdir . '/client' . ++$clients;
    append_to_file("$path.sql", "\\set VERBOSITY sqlstate\n" . "$sql;\n" x 50000);
    my $run = IPC::Run::start([ 'psql', '-XAtq', '-f', "$path.sql", '-d',
            $node->connstr('postgres') . ' application_name=load' ],
        '>', $path, '2>', "$path.err");
    return { run => $run, path => $path };
}

sub end_client
{
    my ($client) = @_;
    $client->{run}->kill_kill;
    return;
}

# The ids that a client has seen so far, and how often it has had which error.
sub seen_by
{
    my ($client) = @_;
    my %errors;
    $errors{$_}++ foreach slurp_file("$client->{path}.err") =~ /ERROR:  (\w{5})$/mg;
    return ([ map { chomp; $_ } numbers_in($client->{path}) ], \%errors);
}

# Copies one column of ids of several servers into a table of one of them, keyed by
# the id; the error of the first conflict, or nothing.
sub gathered_conflicts
{
    my ($into, $query, @nodes) = @_;
    $into->safe_psql('postgres',
        'DROP TABLE IF EXISTS gathered; CREATE TABLE gathered (id bigint PRIMARY KEY)');
    foreach my $node (@nodes)
    {
        my $path = PostgreSQL::Test::Utils::tempdir . '/gathered';
        $node->safe_psql('postgres', "COPY ($query) TO '$path'");
        my ($rc, $out, $err) = $into->psql('postgres', "COPY gathered FROM '$path'");
        return $err if $rc != 0;
    }
    return '';
}

# What a statement gives, or the error that it raises, with SQLSTATE and hint.
sub outcome
{
    my ($node, $sql, %option) = @_;
    my ($rc, $out, $err) = $node->psql($option{db} // 'postgres',
        "\\set VERBOSITY verbose\n$sql", %option);
    return $rc == 0 ? $out : $err;
}

# Whether a statement comes to that, once those who serve it have heard of what
# was changed. If it does not, its last outcome is in the test's log.
sub comes_to
{
    my ($node, $sql, $pattern, $what) = @_;
    my $last = '';
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        $last = outcome($node, $sql);
        last if $last =~ $pattern;
        select undef, undef, undef, 0.1;
    }
    return like($last, $pattern, $what);
}

# How many of a list, of numbers or of other ids, are there a second time.
sub twice_in
{
    my (@ids) = @_;
    my %seen;
    return scalar grep { $seen{$_}++ } @ids;
}

# Has a server take part in a publication of another, under a name that is also that of
# the slot there.
sub subscribe
{
    my ($node, $publisher, $name, $publication, %option) = @_;
    my $from = $publisher->connstr('postgres');
    my $with = $option{with} ? "WITH ($option{with})" : '';
    $node->safe_psql($option{db} // 'postgres', "CREATE SUBSCRIPTION $name
        CONNECTION \$\$$from\$\$ PUBLICATION $publication $with");
    return;
}

# How often a server could not apply what its subscriptions brought.
sub apply_errors
{
    my ($node) = @_;
    return $node->safe_psql('postgres', 'SELECT coalesce(sum(apply_error_count + sync_error_count), 0)
        FROM pg_stat_subscription_stats');
}

1;
