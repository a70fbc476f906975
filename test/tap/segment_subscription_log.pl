# A publisher and a subscriber that both issue numbers of one tag: the log of the
# one must not stop the subscription of the other.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = idgen_node('primary', allows_streaming => 'logical');
my $subscriber = idgen_node('subscriber', allows_streaming => 'logical');
$_->safe_psql('postgres', 'CREATE TABLE item (id bigint PRIMARY KEY, n int)')
    foreach $primary, $subscriber;
add_tag($_, 'order', 100) foreach $primary, $subscriber;
$subscriber->safe_psql('postgres', q{SELECT segment_set('order', 501)});
$primary->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES');
my $from = $primary->connstr('postgres');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION everything CONNECTION \$\$$from\$\$
    PUBLICATION everything WITH (copy_data = false)");
$primary->wait_for_catchup('everything');
take($primary, 'order', 1);
$primary->wait_for_catchup('everything');
take($subscriber, 'order', 60);
take($primary, 'order', 800);
$primary->safe_psql('postgres', 'INSERT INTO item VALUES (1, 1)');
local $PostgreSQL::Test::Utils::timeout_default = 15;
ok($subscriber->poll_query_until('postgres', 'SELECT count(*) = 1 FROM item'),
    'the subscription goes on');
cmp_ok($subscriber->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), '>', 0,
    'and the log of both tells that they issued the same numbers');
$subscriber->stop('immediate');
$primary->stop('immediate');
done_testing();
