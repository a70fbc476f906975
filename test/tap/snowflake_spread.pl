# Ids at low rates spread over id % n, so that they can choose a shard.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "log_statement = none\n");
# One id in each of 2000 ms and more.
$node->safe_psql('postgres', q{
    CREATE TABLE ids (id bigint);
    DO $$
    BEGIN
        FOR i IN 1..2000 LOOP
            INSERT INTO ids VALUES (snowflake_next());
            PERFORM pg_sleep(0.0015);
        END LOOP;
    END $$});
cmp_ok($node->safe_psql('postgres', 'SELECT count(DISTINCT snowflake_time(id)) FROM ids'), '>', 1800,
    'nearly each id in a ms of its own');

# Chi-square of the counts of id % n, and its 99.99 % bound by Wilson and Hilferty.
sub spread
{
    my ($ids, $n) = @_;
    my $bound = ($n - 1) * (1 - 2 / (9 * ($n - 1)) + 3.719 * sqrt(2 / (9 * ($n - 1)))) ** 3;
    my $chi = $node->safe_psql('postgres', qq{
        SELECT sum((coalesce(seen, 0) - expected) ^ 2 / expected)
        FROM generate_series(0, $n - 1) AS r
        LEFT JOIN (SELECT (id % $n)::int AS r, count(*) AS seen FROM $ids GROUP BY 1) s USING (r),
            (SELECT count(*) / $n.0 AS expected FROM $ids) e});
    return ($chi, $bound);
}
foreach my $n (2, 4, 8, 256)
{
    my ($chi, $bound) = spread('ids', $n);
    cmp_ok($chi, '<', $bound, "id % $n: chi-square $chi");
    ($chi, $bound) = spread('(SELECT id >> 12 << 12 AS id FROM ids) zero', $n);
    cmp_ok($chi, '>', $bound, '... which a sequence from 0 on would not pass');
}

$node->stop;
done_testing();
