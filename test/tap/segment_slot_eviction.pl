# More tags in use than there are slots: what is left of a block that has to go
# is a gap, and no number comes twice.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main',
    conf => "log_statement = none\nidgen.timeout = '60s'\nidgen.segment_prefetch = 0\n");
$node->safe_psql('postgres', q{
    CREATE TABLE item (tag text, id bigint, session int,
        n bigint GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (tag, id));
    INSERT INTO id_segment (biz_tag, step) SELECT 't' || n, 5 FROM generate_series(1, 4200) n});

# All tags once fill the table and go round it; then eight sessions take numbers
# of a few tags among them, so that slots change hands in use.
$node->pgbench('--client=8 --jobs=2 --no-vacuum --transactions=525', 0,
    [qr{processed: 4200/4200}], [qr{^$}], 'eight sessions, 4200 tags',
    { many => q{
        \set tag random(1, 4200)
        \set few random(1, 20)
        INSERT INTO item (tag, id, session) SELECT 't' || t, segment_next('t' || t), pg_backend_pid()
            FROM (VALUES (:tag), (:few), (:client_id * 525 + 21 + :tag % 504), (:few)) v (t);} });
is($node->safe_psql('postgres', q{INSERT INTO item (tag, id)
    SELECT biz_tag, segment_next(biz_tag) FROM id_segment; SELECT count(*) FROM segment_status}),
    4096, 'all slots are in use');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT tag) FROM item'), 4200,
    'each of the tags gave numbers');
is($node->safe_psql('postgres', q{SELECT count(*) FROM (
    SELECT id <= lag(id) OVER (PARTITION BY tag, session ORDER BY n) AS falls FROM item) s
    WHERE falls}), 0, 'the numbers of each tag rise in each session');
cmp_ok($node->safe_psql('postgres', q{
    SELECT count(*) FROM segment_log l WHERE NOT EXISTS (SELECT 1 FROM item
        WHERE tag = biz_tag AND id = end_id) AND EXISTS (SELECT 1 FROM item
        WHERE tag = biz_tag AND id > end_id)}), '>', 0, 'blocks were given up for others');
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');

# The tag that is used most stays, although its session has long known its slot; and
# tags that nobody made push out none that somebody did.
add_tag($node, 'hot', 10000);
is($node->safe_psql('postgres', q{SELECT max(segment_next('hot') + 0 * segment_next('t' || n))
    FROM generate_series(1, 4200) n}), 4200, 'a hot tag has no gap while others come and go');
$node->safe_psql('postgres', q{DO $$
    BEGIN
        FOR n IN 1..4200 LOOP
            BEGIN
                PERFORM segment_next('unknown' || n);
            EXCEPTION WHEN SQLSTATE '02000' THEN NULL;
            END;
        END LOOP;
    END $$});
is(take($node, 'hot', 1), 4201, '... nor while somebody asks for unknown ones');

$node->stop;
done_testing();
