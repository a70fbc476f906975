# A bulk load whose numbers come by default has them without a hole, in the order
# of its rows; two at once share them, none twice, each in the order of its rows.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "idgen.timeout = '60s'\nfsync = off\n");
my $file = PostgreSQL::Test::Utils::tempdir . '/rows';
sub write_rows
{
    my ($count) = @_;
    $node->safe_psql('postgres', "COPY (SELECT generate_series(1, $count)) TO '$file'");
    return;
}

sub numbers
{
    my ($table) = @_;
    return $node->safe_psql('postgres',
        "SELECT count(*), count(DISTINCT id), min(id), max(id) FROM $table");
}

# The rows are numbered by the file itself, n.
use constant { ALONE => 1_000_000, EACH => 100_000 };
add_tag($node, 'alone', 10_000);
$node->safe_psql('postgres',
    q{CREATE TABLE alone (id bigint NOT NULL DEFAULT segment_next('alone'), n int)});
write_rows(ALONE);
$node->safe_psql('postgres', "COPY alone (n) FROM '$file'");
is(numbers('alone'), join('|', ALONE, ALONE, 1, ALONE), 'one COPY: dense, none twice');
is($node->safe_psql('postgres', 'SELECT count(*) FROM alone WHERE id <> n'), 0,
    '... in the order of the rows');

# Both wait for the table, so that they begin together.
$node->safe_psql('postgres', q{
    INSERT INTO id_segment (biz_tag) VALUES ('shared');
    CREATE TABLE shared (id bigint NOT NULL DEFAULT segment_next('shared'), n int,
        session text DEFAULT current_setting('application_name'))});
write_rows(EACH);
my $holder = psql_start($node, 'holder', 'BEGIN; LOCK TABLE shared; SELECT pg_sleep(1000)');
ok(waits_for($node, 'holder', "'PgSleep'"), 'a session keeps two from beginning');
my @loads = map { psql_start($node, $_, "COPY shared (n) FROM '$file'") } 'one', 'two';
ok(waits_for($node, $_, "'relation'"), "session $_ waits") foreach 'one', 'two';
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'holder'});
psql_finish($holder);
foreach my $load (@loads)
{
    my ($rc, $out, $err) = psql_finish($load);
    is("$rc$err", '0', 'a session has loaded its rows');
}
is(numbers('shared'), join('|', 2 * EACH, 2 * EACH, 1, 2 * EACH),
    'two COPY at once: dense, none twice');
is($node->safe_psql('postgres', q{SELECT string_agg(count || '', ' ') FROM (
    SELECT count(*) FROM shared GROUP BY session) s}), EACH . ' ' . EACH, '... half each');
is(not_rising($node, 'shared', 'n', per => 'session'), '0|0',
    '... in the order of the rows of each');
note 'changes of the session in the order of the numbers: ',
    $node->safe_psql('postgres', q{SELECT count(*) FROM (
        SELECT session <> lag(session) OVER (ORDER BY id) AS other FROM shared) s
        WHERE other});
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');
is($node->safe_psql('postgres', q{SELECT sum(end_id - start_id + 1) >= 200000, min(start_id),
    max(end_id) = (SELECT max_id FROM id_segment WHERE biz_tag = 'shared')
    FROM segment_log WHERE biz_tag = 'shared'}), 't|1|t', 'the log has all of them');

$node->stop;
done_testing();
