# Callers that wait for a table that somebody has locked ask again, each in its turn:
# their number does not keep the worker busy, and it remembers nothing of that.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# As in src/worker.h.
use constant { CALLERS => 8, TIMEOUT_MS => 3000, RETRY_MS => 50 };
my $node = idgen_node('main', conf => 'idgen.timeout = ' . TIMEOUT_MS . "\n");
add_tag($node, 'one', 10);

sub memory
{
    my $offset = -s $node->logfile;
    $node->safe_psql('postgres', q{SELECT pg_log_backend_memory_contexts(pid)
        FROM pg_stat_activity WHERE backend_type = 'idgen segment worker'});
    my $line = qr/TopMemoryContext: .* (\d+) used/;
    $node->wait_for_log($line, $offset);
    my ($used) = slurp_file($node->logfile, $offset) =~ $line;
    return $used;
}

# Callers in vain, whose errors are returned.
sub call
{
    my ($count) = @_;
    my @callers = map { psql_start($node, "caller$_", q{SELECT segment_alloc('one')}) } 1 .. $count;
    return map { (psql_finish($_))[2] } @callers;
}

is($node->safe_psql('postgres', q{SELECT * FROM segment_alloc('one')}), '1|10', 'a first block');
my $holder = psql_start($node, 'holder', 'BEGIN; LOCK TABLE id_segment; SELECT pg_sleep(1000)');
ok(waits_for($node, 'holder', "'PgSleep'"), 'somebody locks the table');
my ($error) = call(1);
like($error, qr/table id_segment is locked/, 'a caller is told so');
my $memory = memory();

my @errors = call(CALLERS);
is(scalar(grep { /table id_segment is locked/ } @errors), CALLERS, 'so are all of many');
my $grown = memory() - $memory;
cmp_ok($grown, '<', 4096, "the worker has kept $grown bytes of that");

$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'holder'});
psql_finish($holder);
is($node->safe_psql('postgres', q{SELECT * FROM segment_alloc('one')}), '11|20',
    'after that, the next block');

# A pass in vain aborts, as each caller did; the worker tells how often with its next
# block.
my $aborted = q{SELECT xact_rollback FROM pg_stat_database WHERE datname = 'postgres'};
my $callers = 1 + CALLERS;
ok($node->poll_query_until('postgres', "SELECT ($aborted) > $callers"), 'it has tried in vain');
cmp_ok($node->safe_psql('postgres', $aborted) - $callers, '<=', $callers * (TIMEOUT_MS / RETRY_MS + 2),
    '... not more often than each of them would have made it alone');
$node->stop;
done_testing();
