# A session that is stopped between the clock and the id, while its lease ends and
# others go on, brings no id that another has: its swap fails, or its id lies in the
# range that it had.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "idgen.timeout = '60s'\n");
# One node: what is given back is granted again.
$node->safe_psql('postgres',
    'INSERT INTO snowflake_layout (node_bits, sequence_bits, ttl_ms) VALUES (0, 16, 1000)');
$node->safe_psql('postgres', 'CREATE TABLE ids (n serial, id bigint)');
my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'idgen lease worker'};

sub status
{
    return $node->safe_psql('postgres', 'SELECT leased, epoch FROM snowflake_status');
}

# A session that stops in its call.
sub stopped_session
{
    my $session = psql_start($node, 'stopped',
        q{SELECT idgen_stop_in_next_call(); SELECT snowflake_next()});
    my $pid = busy_pid($node, 'stopped');
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        last if slurp_file("/proc/$pid/stat") =~ /\) T /;
        select undef, undef, undef, 0.1;
    }
    like(slurp_file("/proc/$pid/stat"), qr/\) T /, 'it stands between the clock and the id');
    return ($session, $pid);
}

sub goes_on
{
    my ($what, $session, $pid) = @_;
    my $greatest = $node->safe_psql('postgres', 'SELECT max(id) FROM ids');
    kill 'CONT', $pid;
    my ($rc, $out, $err) = psql_finish($session);
    my ($id) = $out =~ /(\d+)\s*$/;
    like($id, qr/^\d+$/, "$what: it gets an id") or diag $err;
    cmp_ok($id, '>', $greatest, '... greater than all that others got meanwhile');
    $node->safe_psql('postgres', "INSERT INTO ids (id) VALUES ($id)");
    return;
}

sub take_many
{
    $node->safe_psql('postgres', q{INSERT INTO ids (id)
        SELECT snowflake_next() FROM generate_series(1, 100000)});
    return;
}

take_many();
foreach my $round (1 .. 3)
{
    my @stopped = stopped_session();
    my $before = status();
    # It leaves by itself where nobody has asked for a ttl.
    my $pid = $node->safe_psql('postgres', $worker);
    kill 'TERM', $pid if $pid;
    ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM ($worker) s")
        && $node->safe_psql('postgres', 'SELECT leased FROM snowflake_status') eq 'f',
        'the lease is given back');
    take_many();
    isnt(status(), $before, '... and granted again');
    goes_on('given back', @stopped);

    # It stands until its lease is over, and another has begun.
    @stopped = stopped_session();
    ok($node->poll_query_until('postgres', 'SELECT NOT leased FROM snowflake_status'),
        'the lease has ended') if $round == 1;
    take_many();
    goes_on('renewed or ended', @stopped);

}
is(not_rising($node, 'ids', 'n'), '0|0', 'no id twice, and all rise in the order of the calls');

$node->stop;
done_testing();
