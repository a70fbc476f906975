# After a kill -9 of a session or of the postmaster ids are still greater than
# all before.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "restart_after_crash = on\n");

# All ids that clients ever saw, committed or not, in the order of the rounds.
my @seen;
sub see
{
    my ($what) = @_;
    push @seen, $node->safe_psql('postgres', 'SELECT uuidv7_mono()');
    cmp_ok($seen[-1], 'gt', $seen[-2], "$what: the next id is greater") if @seen > 1;
    return;
}

see('start');
my $busy = psql_start($node, 'busy',
    'SELECT uuidv7_mono() FROM generate_series(1, 100000000) OFFSET 99999999');
my $pid = busy_pid($node, 'busy');
see('busy');
kill 'KILL', $pid;
isnt((psql_finish($busy))[0], 0, 'the killed session ended with an error');
$node->poll_query_until('postgres', 'SELECT true');
is($node->safe_psql('postgres', 'SELECT last_time IS NULL FROM uuidv7_status'),
    't', 'shared memory was made anew');
see('after kill -9 of a session');

crash_postmaster($node);
$node->start;
see('after kill -9 of the postmaster');
$node->restart;
see('after a clean restart');
$node->stop('immediate');
$node->start;
see('after an immediate stop');

$node->stop;
done_testing();
