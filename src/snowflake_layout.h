/*
 * snowflake_layout.h
 *		The bits of a Snowflake id: time, node, sequence.
 */
#ifndef IDGEN_SNOWFLAKE_LAYOUT_H
#define IDGEN_SNOWFLAKE_LAYOUT_H

#define SNOWFLAKE_TIME_BITS 41
#define SNOWFLAKE_TIME_MAX ((INT64CONST(1) << SNOWFLAKE_TIME_BITS) - 1)
#define SNOWFLAKE_FIELD_BITS_MAX 16 /* of node and of sequence */
#define SNOWFLAKE_NODE_MAX ((1 << SNOWFLAKE_FIELD_BITS_MAX) - 1)
#define SNOWFLAKE_TAIL_BITS_MAX 22 /* of both together */

typedef struct SnowflakeLayout
{
	int64 epoch_ms; /* since 1970 */
	int node_bits;
	int sequence_bits;
} SnowflakeLayout;

static inline int64
snowflake_field_max(int bits)
{
	return (INT64CONST(1) << bits) - 1;
}

/* snowflake_layout.c */
extern int64 snowflake_compose(const SnowflakeLayout *layout,
							   int64 time,
							   int64 node,
							   int64 sequence);

#endif
