# IdgenTest.pm: what the TAP tests of idgen share.
package IdgenTest;

use strict;
use warnings FATAL => 'all';
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(idgen_node needs_preload psql_start psql_finish busy_pid
    sqlstate_of crash_postmaster not_rising add_tag take worker_pid worker_gone
    next_landed waits_for reconfigure standby_away standby_back call_loop
    numbers_in repeats);

# Whether this major can give idgen shared memory only by preloading.
sub needs_preload
{
    my ($node) = @_;
    return $node->pg_version < 17;
}

# A started server that can issue ids, with the extension in "postgres".
# preload => 0 or 1 overrides what the major needs; conf adds settings.
sub idgen_node
{
    my ($name, %option) = @_;
    my $node = PostgreSQL::Test::Cluster->new($name);
    $node->init(allows_streaming => $option{allows_streaming} // 0);
    my $preload = $option{preload} // needs_preload($node);
    $node->append_conf('postgresql.conf', "shared_preload_libraries = 'idgen'\n")
        if $preload;
    $node->append_conf('postgresql.conf', $option{conf}) if $option{conf};
    $node->start;
    $node->safe_psql('postgres', 'CREATE EXTENSION idgen');
    return $node;
}

# Starts psql on an SQL text under an application_name, and does not wait for
# it; psql_finish() waits and returns its exit status, output and errors.
sub psql_start
{
    my ($node, $name, $sql, %option) = @_;
    my %session = (out => '', err => '');
    my $database = $option{db} // 'postgres';
    $session{run} = IPC::Run::start(
        [ 'psql', '-XAtq', '-c', $sql, '-d',
            $node->connstr($database) . " application_name=$name" ],
        '>', \$session{out}, '2>', \$session{err});
    return \%session;
}

sub psql_finish
{
    my ($session) = @_;
    $session->{run}->finish;
    chomp $session->{out};
    return ($session->{run}->result(0), $session->{out}, $session->{err});
}

# The process id of that session, once it is at work.
sub busy_pid
{
    my ($node, $name) = @_;
    my $pid = "SELECT pid FROM pg_stat_activity
        WHERE application_name = '$name' AND state = 'active'";
    $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($pid) s")
        or die "session $name is not at work";
    return $node->safe_psql('postgres', $pid);
}

# The SQLSTATE of a statement that must fail; '00000' if it does not.
sub sqlstate_of
{
    my ($node, $sql, %option) = @_;
    my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql",
        %option);
    return $rc == 0 ? '00000' : $err =~ /(?:ERROR|FATAL):  ([0-9A-Z]{5}):/ ? $1 : $err;
}

# Kills every process of the server with -9, waits until the postmaster is
# gone, and leaves the node ready for start().
sub crash_postmaster
{
    my ($node) = @_;
    my $pid = $node->safe_psql('postgres',
        "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)");
    $node->kill9;
    foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
    {
        last unless postmaster_is_there($pid);
        select undef, undef, undef, 0.1;
    }
    ok(!postmaster_is_there($pid), 'the killed postmaster is gone');
    return;
}

# A zombie nobody has reaped yet counts as there: start() would refuse.
sub postmaster_is_there
{
    my ($pid) = @_;
    return kill 0, $pid;
}

# How many ids of a table are not greater than the one before, in the order of
# a column, and how many are there twice: '0|0' when all is well.
sub not_rising
{
    my ($node, $table, $order, %option) = @_;
    my $partition = $option{per} ? "PARTITION BY $option{per}" : '';
    return $node->safe_psql('postgres', qq{
        SELECT count(*) FILTER (WHERE id <= previous), count(*) - count(DISTINCT id)
        FROM (SELECT id, lag(id) OVER ($partition ORDER BY $order) AS previous
              FROM $table) s});
}

# Makes a tag.
sub add_tag
{
    my ($node, $tag, $step, %option) = @_;
    $node->safe_psql($option{db} // 'postgres',
        "INSERT INTO id_segment (biz_tag, step) VALUES ('$tag', $step)");
    return;
}

# Takes so many numbers of a tag in a session of their own; the last of them.
sub take
{
    my ($node, $tag, $count, %option) = @_;
    return $node->safe_psql($option{db} // 'postgres',
        "SELECT max(segment_next('$tag')) FROM generate_series(1, $count)");
}

# The process that fetches blocks for a database; '' if there is none.
sub worker_pid
{
    my ($node, $database) = @_;
    return $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity
        WHERE backend_type = 'idgen segment worker' AND datname = '$database'");
}

# Waits until that process has ended.
sub worker_gone
{
    my ($node, $pid) = @_;
    return $node->poll_query_until('postgres',
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
}

# Waits until a tag's next block lies ready.
sub next_landed
{
    my ($node, $tag, %option) = @_;
    return $node->poll_query_until($option{db} // 'postgres',
        "SELECT next_block_start IS NOT NULL FROM segment_status WHERE biz_tag = '$tag'");
}

# Waits until one or more sessions of that name, or of that backend type, wait
# for that event.
sub waits_for
{
    my ($node, $name, $event, $count) = @_;
    $count //= 1;
    return $node->poll_query_until('postgres', "SELECT count(*) = $count
        FROM pg_stat_activity WHERE '$name' IN (application_name, backend_type)
        AND wait_event IN ($event)");
}

# Changes settings in the running server; undef resets one. Sessions that begin
# from now on have them.
sub reconfigure
{
    my ($node, %setting) = @_;
    foreach my $name (sort keys %setting)
    {
        $node->safe_psql('postgres', defined $setting{$name}
            ? "ALTER SYSTEM SET $name = '$setting{$name}'" : "ALTER SYSTEM RESET $name");
    }
    # The stamp is that of the postmaster, from which new sessions are forked.
    my $before = $node->safe_psql('postgres', 'SELECT pg_conf_load_time()');
    $node->reload;
    return $node->poll_query_until('postgres',
        "SELECT pg_conf_load_time() > '$before'");
}

# Has every commit wait for a synchronous standby that is not there. Until one
# does, the server has not heard of it.
sub standby_away
{
    my ($node) = @_;
    reconfigure($node, synchronous_standby_names => 'nobody');
    my $commits = PostgreSQL::Test::Utils::tempdir . '/commits';
    append_to_file($commits, "CREATE TABLE IF NOT EXISTS written (n serial);\n"
        . "INSERT INTO written DEFAULT VALUES;\n" x 10000);
    my $session = call_loop($node, 'commits', $commits, "$commits.out");
    ok(waits_for($node, 'commits', "'SyncRep'"), 'commits wait for a standby');
    $node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'commits'});
    $session->finish;
    return;
}

# ... and no longer.
sub standby_back
{
    my ($node) = @_;
    reconfigure($node, synchronous_standby_names => '');
    return $node->poll_query_until('postgres', q{SELECT count(*) = 0
        FROM pg_stat_activity WHERE wait_event = 'SyncRep'});
}

# Starts psql on many statements, one a line of the file, up to the first that
# fails. What it is given stands at once in the output file: the log of what
# this client has seen, which outlives the server.
sub call_loop
{
    my ($node, $name, $statements, $output) = @_;
    return IPC::Run::start(
        [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $statements, '-d',
            $node->connstr('postgres') . " application_name=$name" ],
        '>', $output, '2>', "$output.err");
}

# The numbers in such a file. A client that died within a line had no number.
sub numbers_in
{
    my ($output) = @_;
    return grep { /^\d+\n/ } split /(?<=\n)/, slurp_file($output);
}

# How many numbers are there twice, and how many of a list are not greater than
# the one before it: '0|0' when all is well. Each list is a session's.
sub repeats
{
    my (@lists) = @_;
    my (%seen, $twice, $falling);
    ($twice, $falling) = (0, 0);
    foreach my $list (@lists)
    {
        my $previous = 0;
        foreach my $number (@$list)
        {
            $twice++ if $seen{ 0 + $number }++;
            $falling++ if $number <= $previous;
            $previous = $number;
        }
    }
    return "$twice|$falling";
}

1;
