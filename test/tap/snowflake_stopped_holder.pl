# A holder that stands still, a session in its call and the worker with it, while its
# lease ends and somebody else takes the node with the next epoch: what it still brings
# lies in the range that it had, and it gets no more until the other's range is over.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "idgen.timeout = '2s'\n");
# One node. The other holder is this test, which the guard would not let do it.
$node->safe_psql('postgres', q{
    INSERT INTO snowflake_layout (node_bits, sequence_bits, ttl_ms) VALUES (0, 16, 4000);
    ALTER TABLE node_lease DISABLE TRIGGER snowflake_guard;
    CREATE TABLE ids (n serial, id bigint)});
my $layout = '1704067200000, 0, 16';
my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'idgen lease worker'};

sub stands
{
    my ($pid) = @_;
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        return 1 if slurp_file("/proc/$pid/stat") =~ /\) T /;
        select undef, undef, undef, 0.1;
    }
    return 0;
}

# Not within a transaction: its locks would keep the other holder away.
sub stop_worker
{
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        my $pid = $node->safe_psql('postgres', $worker);
        next unless $pid && kill 'STOP', $pid;
        return $pid if stands($pid)
            && !$node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE pid = $pid");
        kill 'CONT', $pid;
    }
    die 'could not stop the worker';
}

sub attempt
{
    my ($rc, $out, $err) = $node->psql('postgres',
        "\\set VERBOSITY verbose\nINSERT INTO ids (id) SELECT snowflake_next() RETURNING id");
    return $rc == 0 ? $out : $err;
}

# Until that gives an id.
sub insist
{
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        my $id = attempt();
        return $id if $id =~ /^\d+$/;
        select undef, undef, undef, 0.1;
    }
    return 0;
}

my $inside = 0;
foreach my $round (1 .. 3)
{
    my $before = insist();
    my $session = psql_start($node, 'stopped', q{SELECT idgen_stop_in_next_call();
        SELECT snowflake_next(); SELECT snowflake_next()});
    my $pid = busy_pid($node, 'stopped');
    ok(stands($pid), "$round: a session stands between the clock and the id");
    my $worker_pid = stop_worker();
    ok($node->poll_query_until('postgres',
        'SELECT leased_until <= clock_timestamp() FROM node_lease'), '... until the lease is over');
    my $floor = $node->safe_psql('postgres', qq{UPDATE node_lease SET
        holder = gen_random_uuid(), holder_name = 'other', epoch = epoch + 1,
        leased_from = clock_timestamp(), leased_until = clock_timestamp() + '1 hour'
        RETURNING snowflake_floor(leased_from, $layout)});

    kill 'CONT', $pid;
    my ($rc, $out, $err) = psql_finish($session);
    my @late = $out =~ /^(\d+)$/mg;
    cmp_ok(scalar @late, '<=', 1, '... then it brings one id at most');
    cmp_ok($_, '<', $floor, '... of the range that it had') foreach @late;
    cmp_ok($_, '>', $before, '... greater than the one before') foreach @late;
    $inside += @late;
    $node->safe_psql('postgres', "INSERT INTO ids (id) VALUES ($_)") foreach @late;
    like($err, qr/ERROR:  no node was leased within 2000 ms/, '... and no other');
    kill 'CONT', $worker_pid;
    like(attempt(), qr/55000: .*no Snowflake node is free.*DETAIL: .* 3\d{6} ms/s,
        'the worker goes on: it finds the node taken');

    my $end = $node->safe_psql('postgres', qq{UPDATE node_lease
        SET leased_until = clock_timestamp() + '500 ms' WHERE holder_name = 'other'
        RETURNING snowflake_floor(leased_until, $layout)});
    cmp_ok(insist(), '>=', $end, 'when that is over ids come again, of later times');
}
cmp_ok($inside, '>', 0, 'some did bring an id');
is(not_rising($node, 'ids', 'n'), '0|0', 'none twice, and all rise');

$node->stop;
done_testing();
