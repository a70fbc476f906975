# After kill -9 of the postmaster no number comes again, committed or not, and no
# more is lost than the rest of the block in use and the next one.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "log_statement = none\n");
my $directory = PostgreSQL::Test::Utils::tempdir;

sub crash
{
    crash_postmaster($node);
    $node->start;
    return;
}

# Quiet: what was in the buffers is known exactly.
add_tag($node, 'quiet', 100);
is(take($node, 'quiet', 10), 10, 'ten of the first block, no prefetch is due');
crash();
is(take($node, 'quiet', 1), 101, 'the hole is the rest of the block in use');
is(take($node, 'quiet', 59), 160, 'sixty of the second block');
ok(next_landed($node, 'quiet'), '... and the next one is there');
crash();
is(take($node, 'quiet', 1), 301, 'the hole is the rest of it and the next block');
# Under load: eight clients, of which each writes down what it was given, in
# transactions that commit, roll back, or never end. Twenty times.
use constant { ROUNDS => 20, CLIENTS => 8, STEP => 50 };
add_tag($node, 'load', STEP);
my $statements = "$directory/statements";
append_to_file($statements, join '', map { "$_;\n" } (
    q{SELECT segment_next('load')},
    'BEGIN', q{SELECT segment_next('load')}, 'ROLLBACK',
    'BEGIN', q{SELECT segment_next('load') FROM generate_series(1, 3)}, 'SAVEPOINT s',
    q{SELECT segment_next('load')}, 'ROLLBACK TO s', q{SELECT segment_next('load')},
    'COMMIT') x 5000);

my @lists;
my ($last, $worst, $unlike, $under_load) = (0, 0, 0, 0);
foreach my $round (1 .. ROUNDS)
{
    my @outputs = map { "$directory/$round.$_" } 1 .. CLIENTS;
    my @clients = map { call_loop($node, 'load', $statements, $_) } @outputs;
    # Not at the same place each time.
    my $enough = 200 * (1 + $round % 5);
    until ((grep { -s $_ > $enough } @outputs) == CLIENTS)
    {
        select undef, undef, undef, 0.01;
    }
    crash_postmaster($node);
    foreach my $client (@clients)
    {
        $client->finish;
        $under_load++ if $client->result(0) != 0;
    }
    $node->start;

    push @lists, map { [ numbers_in($_) ] } @outputs;
    my ($greatest) = sort { $b <=> $a } map { @$_ } @lists[ -CLIENTS .. -1 ];
    my $reserved = $node->safe_psql('postgres',
        q{SELECT max_id FROM id_segment WHERE biz_tag = 'load'});
    my $first = take($node, 'load', 1);
    push @lists, [$first];
    $unlike++ if $first != $reserved + 1 || $greatest > $reserved;
    $worst = $first - $greatest if $first - $greatest > $worst;
    $last = $first;
}
my $seen = 0;
$seen += @$_ foreach @lists;
is($under_load, ROUNDS * CLIENTS, 'each of the clients lost the server, in each round');
cmp_ok($seen, '>', ROUNDS * CLIENTS * 40, 'the clients were given numbers');
is(repeats(@lists), '0|0', 'no number twice, and each session rises');
is($unlike, 0, 'the first after a crash is above the end of every block before');
# A number that was taken may not have reached its client, so one each is added.
cmp_ok($worst, '<=', 2 * STEP + CLIENTS, 'the hole is two blocks at most');
note "$seen numbers, the greatest hole $worst";

# The log knows of every number, once.
$node->safe_psql('postgres', 'CREATE TABLE seen (id bigint)');
append_to_file("$directory/seen", join '', map { 0 + $_ . "\n" } map { @$_ } @lists);
$node->safe_psql('postgres', "COPY seen FROM '$directory/seen'");
is($node->safe_psql('postgres', q{SELECT count(*) FROM seen LEFT JOIN (
        SELECT generate_series(start_id, end_id) AS n FROM segment_log
        WHERE biz_tag = 'load') logged ON n = id
    GROUP BY id HAVING count(n) <> 1}), '',
    'each lies in one block of segment_log');
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');

# synchronous_commit off in the whole server, and it stops right after.
reconfigure($node, synchronous_commit => 'off');
@lists = ();
add_tag($node, 'async', 3);
$node->safe_psql('postgres', 'CHECKPOINT');
foreach my $round (1 .. 5)
{
    push @lists, [ split /\n/, $node->safe_psql('postgres',
        q{SELECT segment_next('async') FROM generate_series(1, 20)}) ];
    push @lists, [ split /,/, $node->safe_psql('postgres',
        q{SELECT start_id || ',' || end_id FROM segment_alloc('async', 2)}) ];
    $node->stop('immediate');
    $node->start;
}
is(repeats(@lists), '0|0', 'synchronous_commit off, immediate stop: no number twice');

$node->stop;
done_testing();
