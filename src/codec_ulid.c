/*
 * codec_ulid.c
 *		ULIDs as bytes: 48 bits of milliseconds since 1970, a tail of 80.
 *
 * Plain C, without a server: the fuzzer links it.
 */
#include "codec_ulid.h"

#include "codec_bytes.h"

/* The id whose tail is start + step; false when that has more than 80 bits. */
bool
ulid_compose(int64_t unix_ms,
			 const uint8_t start[ULID_TAIL_BYTES],
			 uint64_t step,
			 uint8_t id[16])
{
	uint64_t high = (uint64_t) unix_ms << 16 | (uint64_t) start[0] << 8 |
					(uint64_t) start[1];
	uint64_t low = bytes_load64(start + 2) + step;

	if (low < step)
	{
		if ((high & 0xFFFF) == 0xFFFF)
			return false;
		high++;
	}
	bytes_store64(id, high);
	bytes_store64(id + 8, low);
	return true;
}

int64_t
ulid_unix_ms(const uint8_t id[16])
{
	return (int64_t) (bytes_load64(id) >> 16);
}
