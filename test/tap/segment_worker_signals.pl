# Whatever ends the worker or a session, no number comes twice, calls go on with
# the next worker, and nothing stays in the way of it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main',
    conf => "restart_after_crash = on\nlog_statement = none\nidgen.timeout = '60s'
idgen.worker_idle_timeout = '1h'\n");
my $directory = PostgreSQL::Test::Utils::tempdir;
add_tag($node, 'order', 50);
my @lists = [ take($node, 'order', 1) ];

# At rest.
foreach my $signal ('TERM', 'INT')
{
    push @lists, [ take($node, 'order', 1) ];
    my $pid = worker_pid($node, 'postgres');
    like($pid, qr/^\d+$/, 'a worker is there');
    kill $signal, $pid;
    ok(worker_gone($node, $pid), "SIG$signal at rest ends it") if $signal eq 'TERM';
    push @lists, [ split /\n/, $node->safe_psql('postgres',
        q{SELECT segment_next('order') FROM generate_series(1, 100)}) ];
}
push @lists, [ $node->safe_psql('postgres', q{
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'idgen segment worker' \g /dev/null
    SELECT segment_next('order')}) ];
is(repeats(@lists), '0|0', 'at rest: numbers go on');

# Under load.
my $statements = "$directory/statements";
append_to_file($statements,
    "SELECT segment_next('order') FROM generate_series(1, 50);\n" x 600);
foreach my $signal ('TERM', 'INT')
{
    my @outputs = map { "$directory/$signal.$_" } 1 .. 4;
    my @clients = map { call_loop($node, 'load', $statements, $_) } @outputs;
    my $sent = 0;
    while ($sent < 30 && grep { $_->pumpable } @clients)
    {
        # One that has just started and leaves again, as there is another, counts.
        foreach my $pid (split /\n/, worker_pid($node, 'postgres'))
        {
            $sent += kill $signal, $pid;
        }
    }
    $_->finish foreach @clients;
    cmp_ok($sent, '>=', 1, "SIG$signal met the worker at work");
    push @lists, map { [ numbers_in($_) ] } @outputs;
    is(take($node, 'order', 100) > 0, 1, '... and afterwards calls work');
}
is(repeats(@lists), '0|0', 'under load: no number twice, each session rises');
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    '... and no blocks overlap');

# kill -9 of a session inside the call, taking and waiting, and of the worker.
add_tag($node, 'held', 1);
foreach my $victim ('taking', 'waiting', 'idgen segment worker')
{
    my $holder = psql_start($node, 'holder', q{BEGIN;
        SELECT 1 FROM id_segment WHERE biz_tag = 'held' FOR UPDATE;
        SELECT pg_sleep(1000)});
    waits_for($node, 'holder', "'PgSleep'");
    my $busy = psql_start($node, 'taking',
        q{SELECT max(segment_next('order')) FROM generate_series(1, 100000000)});
    my $waiting = psql_start($node, 'waiting', q{SELECT segment_next('held')});
    busy_pid($node, $_) foreach 'taking', 'waiting';
    push @lists, [ take($node, 'order', 100) ];
    my $pid = $node->safe_psql('postgres', qq{SELECT pid FROM pg_stat_activity
        WHERE '$victim' IN (application_name, backend_type)});
    kill 'KILL', $pid;
    isnt((psql_finish($_))[0], 0, "kill -9: $victim, and all sessions end")
        foreach $busy, $waiting, $holder;
    $node->poll_query_until('postgres', 'SELECT true');
    push @lists, [ take($node, 'order', 100) ];
    is(take($node, 'held', 1) > 0, 1, 'and afterwards calls work');
}
is(repeats(@lists), '0|0', 'kill -9: no number twice');

$node->stop;
done_testing();
