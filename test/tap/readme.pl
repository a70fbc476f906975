# README.md leaves nothing out: each function, each column of a view, and each
# message that a user can meet stands in it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $readme = slurp_file("$top/README.md");

my $node = idgen_node('main');
my $member = q{FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen')};
my @functions = split /\n/, $node->safe_psql('postgres', qq{
    SELECT proname || '(' || pg_get_function_identity_arguments(oid) || ')' FROM pg_proc
    WHERE oid IN (SELECT objid $member AND classid = 'pg_proc'::regclass)
      AND proname NOT LIKE '%\_status' AND prorettype <> 'trigger'::regtype});
cmp_ok(scalar(@functions), '>', 5, 'the extension has functions');
(my $without_defaults = $readme) =~ s/ DEFAULT [^,)]+//g;
foreach my $function (@functions)
{
    my $short = $function;
    $short =~ s/timestamp with time zone/timestamptz/g;
    ok($without_defaults =~ /^\| `\Q$short\E` \|/m, "README has $short");
}

my @columns = split /\n/, $node->safe_psql('postgres', qq{
    SELECT attname FROM pg_attribute WHERE attnum > 0
    AND attrelid IN (SELECT objid $member AND classid = 'pg_class'::regclass)});
cmp_ok(scalar(@columns), '>', 3, 'the extension has columns');
ok($readme =~ /`$_`/, "README has column $_") foreach @columns;

# The settings, with their defaults as pg_settings has them.
my @settings = split /\n/, $node->safe_psql('postgres', q{LOAD 'idgen';
    SELECT name || '|' || current_setting(name) || '|' ||
        CASE context WHEN 'sighup' THEN 'reload' ELSE 'at once' END
    FROM pg_settings WHERE name LIKE 'idgen.%'});
cmp_ok(scalar(@settings), '>', 0, 'the extension has settings');
foreach my $setting (@settings)
{
    my ($name, $default, $effect) = split /\|/, $setting;
    like($readme, qr/^\| `\Q$name\E` \| `\Q$default\E` \|.*\| $effect/m,
        "README has setting $name, $default, $effect");
}

# The message of each ereport(ERROR) and of each verdict of a worker, its string
# pieces joined and its values dotted.
my $found = 0;
foreach my $file (glob "$top/src/*.c")
{
    my $code = slurp_file($file);
    $code =~ s/INT64_FORMAT/"%d"/g;
    while ($code =~ /(?:ereport\(ERROR,.*?errmsg\(|\bverdict_set\([^,;]*,\s*ERRCODE_\w+,\s*(?:psprintf\()?)
                     ((?:\s*"(?:[^"\\]|\\.)*")+)/gsx)
    {
        my $message = join '', $1 =~ /"((?:[^"\\]|\\.)*)"/g;
        next if $message eq '%s';
        $message =~ s/\\"/"/g;
        $message =~ s/^%s (must not)/max_ahead $1/;
        $message =~ s/%\w+/.../g;
        ok($readme =~ /^\|.*`\Q$message\E`/m, "README has \"$message\"");
        $found++;
    }
}
cmp_ok($found, '>', 20, 'the sources have messages');

$node->stop;
done_testing();
