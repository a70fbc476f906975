# 200 sessions that start at once share no random bits, and every bit that is said
# to be random is.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "max_connections = 250\n");
$node->safe_psql('postgres', 'CREATE TABLE ids (session int, id uuid, other uuid)');
$node->pgbench('--client=200 --jobs=2 --no-vacuum --transactions=1', 0,
    [qr{processed: 200/200}], [qr{^$}], '200 sessions, each takes 5 ids',
    { take => q{INSERT INTO ids SELECT pg_backend_pid(), uuidv7_mono(),
        uuidv7_at('2024-01-01') FROM generate_series(1, 5);} });

is($node->safe_psql('postgres', 'SELECT count(DISTINCT session) FROM ids'), 200,
    '200 sessions took part');
# The last 12 hex digits hold nothing but random bits.
is($node->safe_psql('postgres', 'SELECT count(DISTINCT right(id::text, 12)) FROM ids'),
    1000, 'no two tails are equal');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT other) FROM ids'),
    1000, 'nor those of ids of one given time');
is($node->safe_psql('postgres', q{SELECT count(*) FROM (
    SELECT right(id::text, 12) FROM ids INTERSECT SELECT right(other::text, 12) FROM ids) s}),
    0, 'nor one of the former and one of the latter');
# Every random bit is set in some and clear in others; 1000 equal bits by chance
# happen once in 2^999. The 54 last ones of the one, 74 of the other, whose
# version is in bits 48 to 51 and whose variant in 64 and 65.
foreach my $case ([ 'id', 'g >= 74', 54 ],
    [ 'other', 'g BETWEEN 52 AND 63 OR g >= 66', 74 ])
{
    my ($column, $bits, $count) = @$case;
    is($node->safe_psql('postgres', qq{
        SELECT count(*) FROM (
            SELECT g FROM (SELECT ('x' || replace($column\::text, '-', ''))::bit(128) AS bits
                           FROM ids) s, generate_series(0, 127) g
            WHERE $bits GROUP BY g
            HAVING min(get_bit(bits, g)) <> max(get_bit(bits, g))) varying}),
        $count, "$count bits of $column vary");
}

$node->stop;
done_testing();
