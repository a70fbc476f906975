# Four times four sessions at once take 400,000 numbers of one tag: each number
# comes once, each session's rise, and no number but those in the buffers is lost.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "idgen.timeout = '120s'\nmax_connections = 520\nlog_statement = none\n");
add_tag($node, 'order', 1000);
add_tag($node, 'small', 10);
$node->safe_psql('postgres', q{
    CREATE TABLE item (id bigint PRIMARY KEY, session int,
        n bigint GENERATED ALWAYS AS IDENTITY);
    CREATE TABLE many (id bigint PRIMARY KEY, session int,
        n bigint GENERATED ALWAYS AS IDENTITY)});

my $take = q{INSERT INTO %s (id, session)
    SELECT segment_next('%s'), pg_backend_pid() FROM generate_series(1, %d);};
$node->pgbench('--client=16 --jobs=2 --no-vacuum --transactions=25', 0,
    [qr{processed: 400/400}], [qr{^$}], '16 sessions take 25 times 1000 numbers',
    { take => sprintf($take, 'item', 'order', 1000) });

# The primary key saw to it that no number came twice.
is($node->safe_psql('postgres',
    'SELECT count(*), count(DISTINCT session), min(id), max(id) FROM item'),
    '400000|16|1|400000', '400,000 numbers, all those from 1 on');
is(not_rising($node, 'item', 'n', per => 'session'), '0|0', 'each session rises');

next_landed($node, 'order');
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');
is($node->safe_psql('postgres', q{
    SELECT count(*) BETWEEN 401 AND 402, bool_and(end_id - start_id = 999)
    FROM segment_log WHERE biz_tag = 'order'}), 't|t',
    'a block for each 1000 numbers, and one or two in the buffers');
is($node->safe_psql('postgres', q{
    SELECT issued, max_id - issued - coalesce(block_end - next_id + 1, 0)
        - coalesce(next_block_end - next_block_start + 1, 0)
    FROM segment_status JOIN id_segment USING (biz_tag) WHERE biz_tag = 'order'}),
    '400000|0', 'allocated - issued = what is left in the buffers');

# Far more sessions than numbers in a block.
$node->pgbench('--client=500 --jobs=2 --no-vacuum --transactions=4', 0,
    [qr{processed: 2000/2000}], [qr{^$}], '500 sessions at step 10',
    { many => sprintf($take, 'many', 'small', 5) });
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT session) FROM many'),
    '10000|500', '10,000 numbers, each once');
is(not_rising($node, 'many', 'n', per => 'session'), '0|0', 'each session rises');
is($node->safe_psql('postgres', q{SELECT max_id - (SELECT max(id) FROM many)
    <= 2 * (SELECT max(end_id - start_id + 1) FROM segment_log WHERE biz_tag = 'small')
    FROM id_segment WHERE biz_tag = 'small'}), 't', 'two blocks at most are left over');

$node->stop;
done_testing();
