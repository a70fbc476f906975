/*
 * codec_bytes.h
 *		Big-endian numbers in bytes, for code that knows no server.
 */
#ifndef IDGEN_CODEC_BYTES_H
#define IDGEN_CODEC_BYTES_H

#include <stdint.h>

static inline uint64_t
bytes_load64(const uint8_t *bytes)
{
	uint64_t number = 0;

	for (int i = 0; i < 8; i++)
		number = number << 8 | bytes[i];
	return number;
}

static inline void
bytes_store64(uint8_t *bytes, uint64_t number)
{
	for (int i = 7; i >= 0; i--)
	{
		bytes[i] = (uint8_t) number;
		number >>= 8;
	}
}

#endif
