# A block that the synchronous standby has not confirmed is not used, whoever
# ends the wait for it; the caller gets an error that names the standby.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', allows_streaming => 1, conf => "idgen.timeout = '500ms'\n");
add_tag($node, 'order', 100);
add_tag($node, 'other', 100);
is(take($node, 'order', 60), 60, 'numbers are there');
next_landed($node, 'order');

my $worker = 'idgen segment worker';
foreach my $case ([ 'pg_cancel_backend' => 1 ], [ 'pg_terminate_backend' => 1 ],
    [ 'the standby is back' => 0 ])
{
    my ($how, $breaks) = @$case;
    standby_away($node);
    my $left = $node->safe_psql('postgres', q{SELECT next_block_end - next_id + 1
        FROM segment_status WHERE biz_tag = 'order'});
    my $reserved = take($node, 'order', $left);
    is($reserved % 100, 0, "$left numbers come from the buffer");
    my ($rc, $out, $err) = $node->psql('postgres',
        "\\set VERBOSITY verbose\nSELECT segment_next('order')");
    like($err, qr/ERROR:  55000: .*synchronous standby/, 'then comes the error');
    like($err, qr/HINT:  .*synchronous_standby_names/, '... which says what to do');
    ok(waits_for($node, $worker, "'SyncRep'"), '... and the worker waits for it');
    cmp_ok($node->safe_psql('postgres', q{SELECT max_id FROM id_segment
        WHERE biz_tag = 'order'}), '>', $reserved, '... after its commit, holding no lock');
    is(sqlstate_of($node, q{SELECT segment_alloc('other', 5)}), '55000',
        'a claim gets the same');

    if ($breaks)
    {
        my $pid = worker_pid($node, 'postgres');
        $node->safe_psql('postgres', "SELECT $how($pid)");
        # What it committed is in doubt: a later call starts anew, and waits anew.
        isnt(sqlstate_of($node, q{SELECT segment_next('order')}), '00000',
            "$how: no number comes of the block in doubt");
    }
    ok(standby_back($node), 'then nobody waits');
    $node->safe_psql('postgres', q{SET idgen.timeout = '60s'; SELECT segment_next('order')});
    my $next = take($node, 'order', 1);
    # Each wait that was broken has cost a block.
    cmp_ok($next, '>', $reserved + ($breaks ? 100 : 0),
        "$how: numbers go on above what was in doubt");
    is(sqlstate_of($node, q{SELECT segment_alloc('other', 5)}), '00000', 'claims work');
    take($node, 'order', 60);
    ok(next_landed($node, 'order'), 'and so does the prefetch');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');

# A worker that waits for the standby still looks whether its database is wanted.
$node->safe_psql('postgres', 'CREATE DATABASE wanted');
$node->safe_psql('wanted', 'CREATE EXTENSION idgen');
add_tag($node, 'order', 100, db => 'wanted');
standby_away($node);
$node->psql('wanted', q{SELECT segment_next('order')});
ok(waits_for($node, $worker, "'SyncRep'"), 'the worker of a database waits');
# DROP DATABASE is a commit, so it must not wait itself.
is(sqlstate_of($node, q{SET synchronous_commit = local; DROP DATABASE wanted}), '00000',
    '... and the database can be dropped');

$node->stop;
done_testing();
