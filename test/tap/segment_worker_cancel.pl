# Who cancels or ends the worker does not cancel the callers: they wait for the
# next pass (design 9: a wait, at most idgen.timeout).
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "log_statement = none\nidgen.timeout = '60s'\n");
my $directory = PostgreSQL::Test::Utils::tempdir;
add_tag($node, 'order', 20);
foreach my $signal ('TERM', 'INT')
{
    append_to_file("$directory/$signal.sql",
        "SELECT segment_next('order') FROM generate_series(1, 50);\n" x 1000);
    my @outputs = map { "$directory/$signal.$_" } 1 .. 4;
    my @clients = map { call_loop($node, 'load', "$directory/$signal.sql", $_) } @outputs;
    my $sent = 0;
    while ($sent < 100 && grep { $_->pumpable } @clients)
    {
        $sent += kill $signal, $_ foreach split /\n/, worker_pid($node, 'postgres');
    }
    $_->finish foreach @clients;
    cmp_ok($sent, '>', 9, "SIG$signal met the worker at work");
    is(join('', map { slurp_file("$_.err") } @outputs), '', 'no caller saw an error');
}
$node->stop;
done_testing();
