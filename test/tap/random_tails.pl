# 200 sessions that start at once share no random bits: neither a pool that was
# filled before a fork nor one seed.
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
# A new connection for each of the 200, 20 at a time.
$node->pgbench('--client=20 --jobs=2 --no-vacuum --connect --transactions=10', 0,
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
# Every random bit is set in some and clear in others; 1000 equal bits by
# chance happen once in 2^1000.
is($node->safe_psql('postgres', q{
    SELECT count(*) FROM (SELECT ('x' || right(id::text, 12))::bit(48) AS tail FROM ids) s,
    LATERAL (SELECT g, get_bit(tail, g) AS bit FROM generate_series(0, 47) g) b
    GROUP BY g HAVING min(bit) = max(bit)}), '', 'no bit of the tail is constant');

$node->stop;
done_testing();
