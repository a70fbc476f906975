# A change of a row that is committed in two phases stops the tag's numbers until
# COMMIT PREPARED or ROLLBACK PREPARED, over a restart too, and counts from then on,
# in whichever session that is done and whoever asks first.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "max_prepared_transactions = 5\n");
add_tag($node, $_, 100) foreach 'deleted', 'raised';
take($node, $_, 1) foreach 'deleted', 'raised';
$node->safe_psql('postgres', q{
    BEGIN; DELETE FROM id_segment WHERE biz_tag = 'deleted'; PREPARE TRANSACTION 'delete';
    BEGIN; UPDATE id_segment SET max_id = 1000 WHERE biz_tag = 'raised';
    PREPARE TRANSACTION 'raise'});
foreach my $when ('while it is prepared', 'after a crash')
{
    foreach my $tag ('deleted', 'raised')
    {
        my ($rc, $out, $err) = $node->psql('postgres', qq{\\set VERBOSITY verbose
            SET idgen.timeout = '300ms'; SELECT segment_next('$tag')});
        like($err, qr/ERROR:  55P03: .*DETAIL:  .*prepared transaction/s, "$when no number comes");
    }
    crash_postmaster($node);
    $node->start;
}
# Each in a session that has not used idgen before.
$node->safe_psql('postgres', q{COMMIT PREPARED 'raise'});
is(take($node, 'raised', 1), 1001, 'a raised max_id counts');
$node->safe_psql('postgres', q{COMMIT PREPARED 'delete'});
is(sqlstate_of($node, q{SELECT segment_next('deleted')}), '02000', 'a deletion counts');
add_tag($node, 'kept', 100);
take($node, 'kept', 1);
$node->safe_psql('postgres', q{BEGIN; DELETE FROM id_segment WHERE biz_tag = 'kept';
    PREPARE TRANSACTION 'kept'});
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'kept'});
is(take($node, 'kept', 1), 2, 'rolled back, it does not, and the buffer is good');

$node->stop;
done_testing();
