# Whatever is killed, ended or stopped under load, no Snowflake id comes twice, each
# session's rise, and those after a crash are greater than all before it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant CLIENTS => 8;

my $node = idgen_node('main', conf => "restart_after_crash = on\nlog_statement = none
idgen.timeout = '60s'\n");
# Leases so short that each round sees some.
$node->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (1000)');
my $directory = PostgreSQL::Test::Utils::tempdir;
my $statements = "$directory/statements";
append_to_file($statements, join '', map { "$_;\n" } (
    'SELECT snowflake_next() FROM generate_series(1, 20)',
    'BEGIN', 'SELECT snowflake_next()', 'ROLLBACK') x 20000);
my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'idgen lease worker'};
my $node_of = 'SELECT node, epoch FROM snowflake_status';

my (@lists, $greatest);
$greatest = $node->safe_psql('postgres', 'SELECT snowflake_next()');
push @lists, [$greatest];

sub wait_until
{
    my ($done) = @_;
    foreach (1 .. 100 * $PostgreSQL::Test::Utils::timeout_default)
    {
        return if $done->();
        select undef, undef, undef, 0.01;
    }
    die 'a client does not go on';
}

# Starts the load, does something to it, and ends it; what was seen is kept.
sub under_load
{
    my ($what, $do) = @_;
    my @outputs = map { "$directory/" . scalar(@lists) . ".$_" } 1 .. CLIENTS;
    my @clients = map { call_loop($node, 'load', $statements, $_) } @outputs;
    wait_until(sub { (grep { -s $_ > 2000 } @outputs) == CLIENTS });
    $do->(\@outputs);
    # Those who are still there have ids to show for the time after.
    my @sizes = map { -s $_ } @outputs;
    $node->poll_query_until('postgres', 'SELECT true');
    $node->psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'load'});
    $_->finish foreach @clients;
    my @seen = map { [ numbers_in($_) ] } @outputs;
    push @lists, @seen;
    cmp_ok(scalar(map { @$_ } @seen), '>', CLIENTS * 50, "$what: ids were issued");
    my ($least) = sort { $a <=> $b } map { @$_ } @seen;
    cmp_ok($least, '>', $greatest, '... greater than all of the round before');
    ($greatest) = sort { $b <=> $a } map { @$_ } @seen;
    my $next = $node->safe_psql('postgres', 'SELECT snowflake_next()');
    cmp_ok($next, '>', $greatest, '... and the next one is greater still');
    push @lists, [$next];
    $greatest = $next;
    return;
}

# Until every client has seen more.
sub all_go_on
{
    my ($outputs) = @_;
    my @sizes = map { -s $_ } @$outputs;
    wait_until(sub { (grep { -s $outputs->[$_] > $sizes[$_] } 0 .. $#sizes) == CLIENTS });
    return;
}

foreach my $round (1 .. 2)
{
    under_load("SIGTERM to the worker, $round", sub {
        my ($outputs) = @_;
        foreach (1 .. 5)
        {
            my $before = $node->safe_psql('postgres', $node_of);
            my $pid = $node->safe_psql('postgres', $worker);
            kill 'TERM', $pid if $pid;
            $node->poll_query_until('postgres',
                "SELECT leased AND (node || '|' || epoch) <> '$before' FROM snowflake_status");
            all_go_on($outputs);
        }
    });
    under_load("kill -9 of the worker, $round", sub {
        my $pid = $node->safe_psql('postgres', $worker);
        kill 'KILL', $pid if $pid;
        $node->poll_query_until('postgres',
            "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'load'");
    });
    under_load("kill -9 of a session, $round", sub {
        my ($pid) = split /\n/, $node->safe_psql('postgres',
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'load'");
        kill 'KILL', $pid;
        $node->poll_query_until('postgres',
            "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'load'");
    });
    under_load("kill -9 of the postmaster, $round", sub {
        crash_postmaster($node);
        $node->start;
    });
    under_load("the worker stands still for longer than its lease, $round", sub {
        my ($outputs) = @_;
        my $pid = $node->safe_psql('postgres', $worker);
        kill 'STOP', $pid;
        $node->poll_query_until('postgres',
            'SELECT NOT leased FROM snowflake_status');
        kill 'CONT', $pid;
        all_go_on($outputs);
    });
}
my $count = map { @$_ } @lists;
is(repeats(@lists), '0|0', "$count ids: none twice, each session rises");

# A clean restart gives the rest back: the table knows the last id's time.
my $last = $node->safe_psql('postgres', 'SELECT snowflake_next()');
my $leased = $node->safe_psql('postgres', 'SELECT node FROM snowflake_status');
$node->restart;
is($node->safe_psql('postgres', "SELECT leased_until - snowflake_time($last)
    <= '2 ms' FROM node_lease WHERE node_id = $leased"), 't', 'a clean stop gives the rest back');
cmp_ok($node->safe_psql('postgres', 'SELECT snowflake_next()'), '>', $last, 'and ids rise on');

$node->stop;
done_testing();
