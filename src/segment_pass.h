/*
 * segment_pass.h
 *		One pass of the segment worker: the open requests of a database.
 */
#ifndef IDGEN_SEGMENT_PASS_H
#define IDGEN_SEGMENT_PASS_H

#include "coordinator.h"
#include "segment_cache.h"
#include "shared.h"

/* A tag's part of a pass. */
typedef struct Order
{
	SegmentSlot *slot;
	uint64 owner;
	uint64 request; /* what to answer */
	uint64 asks;
	int waiting;
	bool refill; /* somebody wants a number, now or soon */
	bool suspended;
	bool has_row;
	pg_uuid_t incarnation;
	int64 row_max_id;

	/* found by the pass */
	bool drop;   /* the slot's blocks are no longer good */
	int64 block; /* numbers for the slot; 0: none */
	Verdict verdict;
} Order;

typedef struct Pass
{
	Oid relation;
	int count;
	Order *orders;
	SegmentRow *rows; /* of the same indexes */
	int claim_count;
	SegmentClaim **claims;
} Pass;

static inline SegmentSlot *
claim_slot(SegmentClaim *claim)
{
	return &shared->segments.slots[claim->slot];
}

/* segment_plan.c */
extern void segment_plan(Pass *pass, Order *order, SegmentRow *row);

#endif
