# A coordinator that cannot be one, or cannot be reached: callers hear what is wrong
# and what to do, get no number from elsewhere, and go on by themselves once it is
# mended. A password in the setting is refused, and seen nowhere.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

local $PostgreSQL::Test::Utils::timeout_default = 30;
my $coordinator = fleet_coordinator('coordinator', allows_streaming => 1);
add_tag($coordinator, 'order', 10);
$coordinator->safe_psql('postgres', q{ALTER ROLE idgen_fleet PASSWORD 'right';
    CREATE DATABASE bare; CREATE ROLE regress_idgen_none LOGIN});
$coordinator->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($coordinator, 'base', has_streaming => 1);
$standby->start;

my $directory = PostgreSQL::Test::Utils::tempdir;
my $here = draws_from($coordinator);
append_to_file("$directory/service", "[fleet]\nhost=" . $coordinator->host . "\nport="
    . $coordinator->port . "\ndbname=postgres\nuser=idgen_fleet\n");
$ENV{PGSERVICEFILE} = "$directory/service";
# What the tests write into the member's settings is not to be looked for in its log.
# Until the library is loaded a setting of its is nobody's to refuse, or to hide.
my $member = fleet_member('member', [$coordinator], preload => 1,
    conf => "log_min_error_statement = panic\n");
# The same tag here, so that a number of this server would be seen.
add_tag($member, 'order', 10);
$member->safe_psql('postgres', q{SET session_replication_role = replica;
    UPDATE id_segment SET max_id = 1000000000});

my $alloc = q{SELECT start_id FROM segment_alloc('order', 1)};
my $next = 'SELECT snowflake_next()';
my $parallel = $member->pg_version < 16 ? 'force_parallel_mode' : 'debug_parallel_query';
my @numbers;

# Both kinds of ids come to the same error.
sub refused
{
    my ($pattern, $what) = @_;
    comes_to($member, $alloc, $pattern, $what);
    comes_to($member, $next, $pattern, "$what: nor a node");
    return;
}

# ... and nobody has to do anything in this server for it to go on.
sub recovers
{
    my ($what) = @_;
    push @numbers, insist_on($member, $alloc);
    cmp_ok($numbers[-1], '<', 1000000000, "$what: numbers come from the coordinator");
    like(insist_on($member, $next), qr/^\d+$/, "$what: and a node");
    return;
}

# Ends what is connected there, since all of this is looked at when that begins.
sub connections_end
{
    $coordinator->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 60000)
        FROM pg_stat_activity WHERE application_name = 'idgen'});
    reconfigure($member, 'idgen.coordinator' => undef);
    return;
}

sub write_passfile
{
    my ($password) = @_;
    unlink "$directory/pass";
    append_to_file("$directory/pass", "*:*:*:idgen_fleet:$password\n");
    chmod 0600, "$directory/pass";
    return;
}

recovers('at first');

# Passwords.
my $hba = slurp_file($coordinator->data_dir . '/pg_hba.conf');
write_passfile('wrong');
unlink $coordinator->data_dir . '/pg_hba.conf';
$coordinator->append_conf('pg_hba.conf', "local all idgen_fleet scram-sha-256\n$hba");
$coordinator->reload;
reconfigure($member, 'idgen.coordinator' => "$here passfile=$directory/pass");
refused(qr/08006: the coordinator .*DETAIL: .*password authentication failed for user "idgen_fleet".*HINT: /s,
    'a wrong password');
like($member->safe_psql('postgres', 'SELECT coordinator_error FROM segment_status'),
    qr/password authentication failed/, '... is in segment_status');
write_passfile('right');
recovers('the right password');
unlink $coordinator->data_dir . '/pg_hba.conf';
$coordinator->append_conf('pg_hba.conf', $hba);
$coordinator->reload;

# What will not do as a setting.
foreach ([ 'host=a password=secret1', 'must not contain a password' ],
    [ 'postgresql://a:secret1@b/c', 'must not contain a password' ],
    [ 'host=a sslpassword=secret1', 'must not contain a password' ],
    [ 'somewhere', 'is not a connection string' ])
{
    my ($setting, $why) = @$_;
    like(outcome($member, "ALTER SYSTEM SET idgen.coordinator = '$setting'"),
        qr/22023: .*idgen\.coordinator $why.*HINT: .*password file/s, "ALTER SYSTEM: it $why");
}
recovers('after that');
reconfigure($member, 'idgen.coordinator' => undef);
my $conf = $member->data_dir . '/postgresql.conf';
my $good = slurp_file($conf);
foreach ([ 'host=a password=secret2', 'must not contain a password' ],
    [ 'somewhere', 'is not a connection string' ])
{
    my ($setting, $why) = @$_;
    $member->append_conf('postgresql.conf', "idgen.coordinator = '$setting'\n");
    $member->restart;
    refused(qr/22023: idgen\.coordinator .*HINT: .*password file/s,
        "written by hand, it $why: no start without a coordinator");
    unlike($member->safe_psql('postgres', q{SHOW idgen.coordinator;
        SELECT setting, reset_val, boot_val FROM pg_settings WHERE name = 'idgen.coordinator'}),
        qr/secret|somewhere/, '... and is not shown');
    unlink $conf;
    $member->append_conf('postgresql.conf', $good);
    $member->reload;
    recovers("after what $why");
}
unlike(slurp_file($member->logfile), qr/secret/, 'no password is in the log');
$member->append_conf('postgresql.conf', "idgen.coordinator = 'host=a password=secret3'\n");
$member->reload;
refused(qr/22023: idgen\.coordinator must not contain a password/, 'a password that comes by a reload');
unlike(slurp_file($member->logfile), qr/secret/, '... is not in the log either');
unlike($member->safe_psql('postgres', 'SHOW idgen.coordinator'), qr/secret/, '... and is not shown');
is(outcome($member, "SET $parallel = on; SELECT count(*) FROM pg_extension WHERE extname = 'idgen'"),
    1, '... and parallel queries go on');
unlink $conf;
$member->append_conf('postgresql.conf', $good);
$member->reload;
recovers('after a reload');

# Who is there is none, or not yet.
reconfigure($member, 'idgen.coordinator' => $here =~ s/dbname=postgres/dbname=nowhere/r);
refused(qr/08006: .*DETAIL: .*database "nowhere" does not exist.*HINT: /s, 'a database that is not there');
reconfigure($member, 'idgen.coordinator' => $here =~ s/dbname=postgres/dbname=bare/r);
refused(qr/08006: .*DETAIL: .*database "bare" of the coordinator has no extension idgen.*HINT: /s,
    'a database without the extension');
$coordinator->safe_psql('bare', 'CREATE EXTENSION idgen');
refused(qr/42501: permission denied for function .*DETAIL: .*coordinator/s, 'a role without EXECUTE');
$coordinator->safe_psql('bare', q{GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO idgen_fleet;
    INSERT INTO id_segment (biz_tag, max_id) VALUES ('order', 500000000)});
recovers('with the extension and EXECUTE');
cmp_ok($numbers[-1], '>', 500000000, '... of that database');

$coordinator->safe_psql('postgres', q{UPDATE pg_extension SET extversion = '0.9' WHERE extname = 'idgen'});
connections_end();
refused(qr/08006: .*DETAIL: .*coordinator has idgen 0\.9, which is older than 1\.0 here: upgrade it first/s,
    'an older version there');
$coordinator->safe_psql('postgres', q{UPDATE pg_extension SET extversion = '1.0' WHERE extname = 'idgen'});
recovers('after its upgrade');

reconfigure($member, 'idgen.coordinator' => draws_from($standby));
refused(qr/08006: .*DETAIL: .*read-only.*HINT: /s, 'only a standby');
reconfigure($member, 'idgen.coordinator' => draws_from($standby, $coordinator));
recovers('a standby, and the primary after it');
reconfigure($member, 'idgen.coordinator' => 'service=nowhere');
refused(qr/08006: .*DETAIL: .*service "nowhere".*HINT: /s, 'a service that is not in the file');
reconfigure($member, 'idgen.coordinator' => 'service=fleet');
recovers('a service');

is(repeats(\@numbers) =~ s/\|.*//r, 0, scalar(@numbers) . ' numbers, none twice');
$_->stop foreach $member, $standby, $coordinator;
done_testing();
