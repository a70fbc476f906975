/*
 * snowflake_layout.c
 *		The one place that puts Snowflake ids together and takes them apart.
 *
 * An id is, from the top: a bit that is always 0, 41 bits of milliseconds since
 * the layout's epoch, the node, the sequence. Each field is checked against its
 * bits, so that an id is never negative and its fields never run together.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "clock.h"
#include "compat.h"
#include "snowflake_layout.h"

SQL_FUNCTION(snowflake_time);
SQL_FUNCTION(snowflake_node);
SQL_FUNCTION(snowflake_sequence);
SQL_FUNCTION(snowflake_floor);
SQL_FUNCTION(snowflake_ceil);

/* Years 1692 to 2248; the time field adds 69 years. */
#define EPOCH_MS_MAX (INT64CONST(1) << 43)

/* Raises 2200H for a field that has no room. */
int64
snowflake_compose(const SnowflakeLayout *layout,
				  int64 time,
				  int64 node,
				  int64 sequence)
{
	if (unlikely(time < 0 || time > SNOWFLAKE_TIME_MAX || node < 0 ||
				 node > snowflake_field_max(layout->node_bits) ||
				 sequence < 0 ||
				 sequence > snowflake_field_max(layout->sequence_bits)))
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("no Snowflake id has time " INT64_FORMAT
						", node " INT64_FORMAT ", sequence " INT64_FORMAT,
						time,
						node,
						sequence)));
	return time << (layout->node_bits + layout->sequence_bits) |
		   node << layout->sequence_bits | sequence;
}

/* The layout in arguments 1 to 3. Raises 22023 for one that no id can have. */
static SnowflakeLayout
layout_argument(FunctionCallInfo fcinfo)
{
	SnowflakeLayout layout = {PG_GETARG_INT64(1),
							  PG_GETARG_INT32(2),
							  PG_GETARG_INT32(3)};

	if (layout.epoch_ms < -EPOCH_MS_MAX || layout.epoch_ms > EPOCH_MS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epoch_ms must be " INT64_FORMAT " to " INT64_FORMAT
						", not " INT64_FORMAT,
						-EPOCH_MS_MAX,
						EPOCH_MS_MAX,
						layout.epoch_ms),
				 errdetail("It counts from 1970-01-01 00:00:00 UTC.")));
	/* As the CHECK of table snowflake_layout. */
	if (layout.node_bits < 0 || layout.node_bits > SNOWFLAKE_FIELD_BITS_MAX ||
		layout.sequence_bits < 1 ||
		layout.sequence_bits > SNOWFLAKE_FIELD_BITS_MAX ||
		layout.node_bits + layout.sequence_bits > SNOWFLAKE_TAIL_BITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a Snowflake id cannot have %d node bits and %d "
						"sequence bits",
						layout.node_bits,
						layout.sequence_bits),
				 errdetail("It has 0 to %d node bits, 1 to %d sequence bits, "
						   "at most %d of both.",
						   SNOWFLAKE_FIELD_BITS_MAX,
						   SNOWFLAKE_FIELD_BITS_MAX,
						   SNOWFLAKE_TAIL_BITS_MAX)));
	return layout;
}

/* The time field; -1 for a number that is no id of the layout. */
static int64
time_field(int64 id, const SnowflakeLayout *layout)
{
	int64 time = id >> (layout->node_bits + layout->sequence_bits);

	return time >= 0 && time <= SNOWFLAKE_TIME_MAX ? time : -1;
}

Datum
snowflake_time(PG_FUNCTION_ARGS)
{
	SnowflakeLayout layout = layout_argument(fcinfo);
	int64 time = time_field(PG_GETARG_INT64(0), &layout);

	if (time < 0)
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(
		clock_timestamptz((layout.epoch_ms + time) * US_PER_MS));
}

Datum
snowflake_node(PG_FUNCTION_ARGS)
{
	SnowflakeLayout layout = layout_argument(fcinfo);
	int64 id = PG_GETARG_INT64(0);

	if (time_field(id, &layout) < 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32((int32) (id >> layout.sequence_bits &
							 snowflake_field_max(layout.node_bits)));
}

Datum
snowflake_sequence(PG_FUNCTION_ARGS)
{
	SnowflakeLayout layout = layout_argument(fcinfo);
	int64 id = PG_GETARG_INT64(0);

	if (time_field(id, &layout) < 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32((int32) (id & snowflake_field_max(layout.sequence_bits)));
}

/* Floors to the millisecond. Raises 22008 for what no id can hold. */
static int64
time_argument(FunctionCallInfo fcinfo, const SnowflakeLayout *layout)
{
	TimestampTz at = PG_GETARG_TIMESTAMPTZ(0);
	TimestampTz first = clock_timestamptz(layout->epoch_ms * US_PER_MS);
	TimestampTz end = first + (SNOWFLAKE_TIME_MAX + 1) * US_PER_MS;

	if (at < first || at >= end)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range for a Snowflake id: \"%s\"",
						timestamptz_to_str(at)),
				 errdetail("The layout's epoch is " INT64_FORMAT
						   " ms after 1970; times reach 2^41 ms further.",
						   layout->epoch_ms)));
	return (at - first) / US_PER_MS;
}

Datum
snowflake_floor(PG_FUNCTION_ARGS)
{
	SnowflakeLayout layout = layout_argument(fcinfo);

	PG_RETURN_INT64(
		snowflake_compose(&layout, time_argument(fcinfo, &layout), 0, 0));
}

Datum
snowflake_ceil(PG_FUNCTION_ARGS)
{
	SnowflakeLayout layout = layout_argument(fcinfo);

	PG_RETURN_INT64(
		snowflake_compose(&layout,
						  time_argument(fcinfo, &layout),
						  snowflake_field_max(layout.node_bits),
						  snowflake_field_max(layout.sequence_bits)));
}
