# The check for overlapping blocks finds the damage of SELECT, then UPDATE, and
# finds none in the one statement: a second block of one start has no place in
# segment_log, any other overlap shows in segment_overlap.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "log_statement = none\n");
# No triggers, which would refuse the worst of it.
$node->safe_psql('postgres', q{
    CREATE TABLE unguarded (LIKE id_segment INCLUDING DEFAULTS);
    INSERT INTO unguarded (biz_tag) VALUES ('equal'), ('shifted');
    INSERT INTO id_segment (biz_tag, step) VALUES ('control', 100), ('alloc', 100)});

# 8 clients reserve 200 blocks each, and write them down.
my $log = q{INSERT INTO segment_log (biz_tag, incarnation, start_id, end_id, proc)
    VALUES ('%s', '00000000-0000-0000-0000-000000000000', %s, %s, :client_id)
    ON CONFLICT DO NOTHING;};
sub reserve
{
    my ($tag, $script) = @_;
    $node->pgbench('--client=8 --jobs=2 --no-vacuum --transactions=200', 0,
        [qr{processed: 1600/1600}], [qr{^$}], "8 clients, 200 times each: $tag",
        { $tag => $script });
    return;
}

# Blocks of 100 that are missing, since their start was taken, and pairs that
# overlap. The worker writes one row for all the blocks of a commit.
sub damage
{
    my ($tag) = @_;
    return split /\|/, $node->safe_psql('postgres', qq{SELECT (160000 - sum(end_id - start_id + 1)::bigint) / 100,
        (SELECT count(*) FROM segment_overlap WHERE biz_tag = '$tag')
        FROM segment_log WHERE biz_tag = '$tag'});
}

subtest negative_select_then_update_overlap => sub
{
    foreach my $case ([ equal => 100 ], [ shifted => 'random(50, 100)' ])
    {
        my ($tag, $step) = @$case;
        reserve($tag, qq{
            \\set step $step
            SELECT max_id FROM unguarded WHERE biz_tag = '$tag' \\gset
            \\set end :max_id + :step
            UPDATE unguarded SET max_id = :end WHERE biz_tag = '$tag';
            } . sprintf($log, $tag, ':max_id + 1', ':end'));
    }
    my ($same_start, $overlaps) = damage('equal');
    cmp_ok($same_start, '>', 0, 'blocks of one start are found');
    note "$same_start of 1600";
    ($same_start, $overlaps) = damage('shifted');
    cmp_ok($overlaps, '>', 0, 'blocks that overlap in part are found');
    note "$overlaps pairs";
    cmp_ok($node->safe_psql('postgres',
        q{SELECT max_id FROM unguarded WHERE biz_tag = 'equal'}), '<', 160000,
        'max_id is too low');
};

subtest control_update_returning_no_overlap => sub
{
    reserve('control', q{
        UPDATE id_segment SET max_id = max_id + 100 WHERE biz_tag = 'control'
            RETURNING max_id \gset
        } . sprintf($log, 'control', ':max_id - 99', ':max_id'));
    is(join('|', damage('control')), '0|0', 'the statement alone: no damage');
    # The worker logs these itself.
    reserve('alloc', q{SELECT segment_alloc('alloc');});
    is(join('|', damage('alloc')), '0|0', 'segment_alloc(): no damage');
    is($node->safe_psql('postgres', 'SELECT biz_tag, max_id FROM id_segment ORDER BY 1'),
        "alloc|160000\ncontrol|160000", 'max_id is the sum');
};

$node->stop;
done_testing();
