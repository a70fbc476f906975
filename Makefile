# idgen: build with PGXS, test with script/test.
#
#   make, make install      the extension, for the server of $(PG_CONFIG)
#   make installcheck       pg_regress and TAP tests, on servers of their own
#   make test               all suites (installs what they need, see README)
#   make format             lay out the C files; format-check only looks
#   make headercheck        compile every header alone
#   make bench              all benchmarks

EXTENSION = idgen
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" idgen.control)
DATA = $(wildcard idgen--*.sql)

MODULE_big = idgen
OBJS = \
	src/clock.o \
	src/codec_base32.o \
	src/codec_digits.o \
	src/codec_ff1.o \
	src/codec_ksuid.o \
	src/codec_sqids.o \
	src/codec_sqids_blocklist.o \
	src/codec_typeid.o \
	src/codec_ulid.o \
	src/coordinator.o \
	src/coordinator_leases.o \
	src/coordinator_libpq.o \
	src/coordinator_plan.o \
	src/coordinator_remote.o \
	src/coordinator_segments.o \
	src/coordinator_server.o \
	src/coordinator_spi.o \
	src/extension.o \
	src/guc.o \
	src/idgen.o \
	src/ksuid.o \
	src/lease.o \
	src/lease_worker.o \
	src/mask.o \
	src/nanoid.o \
	src/random.o \
	src/segment.o \
	src/segment_cache.o \
	src/segment_row.o \
	src/segment_status.o \
	src/segment_worker.o \
	src/shared.o \
	src/snowflake.o \
	src/snowflake_guard.o \
	src/snowflake_layout.o \
	src/sqids.o \
	src/texts.o \
	src/timeword.o \
	src/typeid.o \
	src/ulid.o \
	src/uuidv7.o \
	src/verdict.o \
	src/worker.o

PG_CPPFLAGS = -I$(libpq_srcdir) -DIDGEN_VERSION='"$(EXTVERSION)"'
# A function of PostgreSQL's interface need not use all that it is given.
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden

# libpq for a coordinator; masks and the tails of ULIDs need a cipher and a
# keyed hash.
SHLIB_LINK = $(libpq) -lcrypto

# install comes first: it leaves the extension to the others.
REGRESS = install catalog uuidv7 clock plans segment segment_tags \
	segment_own_locks segment_gone privileges snowflake codec_typeid codec_ulid \
	codec_ksuid codec_nanoid codec_sqids codec_mask
REGRESS_OPTS = --temp-instance=tmp_check --temp-config=test/regress.conf \
	--no-locale
ISOLATION = $(basename $(notdir $(wildcard test/isolation/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test/isolation --outputdir=output_iso \
	--temp-instance=tmp_check_iso --temp-config=test/regress.conf --no-locale
TAP_TESTS = 1
PROVE_TESTS = $(wildcard test/tap/*.pl)
EXTRA_CLEAN = tmp_check results regression.diffs regression.out \
	test/regress.conf

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

C_HEADERS = $(wildcard src/*.h)
# The control file has the version, which is compiled in.
$(OBJS): $(C_HEADERS) idgen.control Makefile

installcheck: test/regress.conf

# Before 17 shared memory is only to be had by preloading.
PRELOAD = $(if $(filter 15 16,$(MAJORVERSION)),idgen)
test/regress.conf: Makefile
	printf '%s\n' "shared_preload_libraries = '$(PRELOAD)'" \
		"idgen.lease_database = 'contrib_regression'" >$@

# The parts of installcheck.
.PHONY: regress isolation tap
regress: test/regress.conf
	$(pg_regress_installcheck) $(REGRESS_OPTS) $(REGRESS)
isolation: test/regress.conf
	$(pg_isolation_regress_installcheck) $(ISOLATION_OPTS) $(ISOLATION)
tap:
	$(prove_installcheck)

CLANG_FORMAT ?= clang-format
C_FILES = $(wildcard src/*.[ch] test/fuzz/*.c)

.PHONY: test bench format format-check headercheck
test:
	script/test
bench:
	script/bench
format:
	$(CLANG_FORMAT) -i $(C_FILES)
format-check:
	$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)
headercheck:
	@for header in $(C_HEADERS); do \
		echo "$$header"; \
		printf '#include "postgres.h"\n#include "%s"\n' "$$header" | \
			$(CC) $(CPPFLAGS) $(CFLAGS) -I. -fsyntax-only -x c - || exit 1; \
	done
