/*
 * codec_ulid.h
 *		ULIDs as bytes: 48 bits of time, a tail of 80.
 */
#ifndef IDGEN_CODEC_ULID_H
#define IDGEN_CODEC_ULID_H

#include <stdbool.h>
#include <stdint.h>

#define ULID_TAIL_BYTES 10

/* codec_ulid.c */
extern bool ulid_compose(int64_t unix_ms,
						 const uint8_t start[ULID_TAIL_BYTES],
						 uint64_t step,
						 uint8_t id[16]);
extern int64_t ulid_unix_ms(const uint8_t id[16]);

#endif
