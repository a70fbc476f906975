# segment_status counts what was issued, also when blocks are given up.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main');
add_tag($node, 'order', 100);
take($node, 'order', 60);
next_landed($node, 'order');
is($node->safe_psql('postgres', 'SELECT issued FROM segment_status'), 60, '60 issued');
$node->safe_psql('postgres', q{SELECT segment_set('order', 1000)});
is($node->safe_psql('postgres', 'SELECT issued FROM segment_status'), 60,
    'a next block that was dropped is not counted');
take($node, 'order', 1);
is($node->safe_psql('postgres', 'SELECT issued FROM segment_status'), 61, 'nor afterwards');
$node->stop;
done_testing();
