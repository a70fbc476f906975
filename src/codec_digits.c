/*
 * codec_digits.c
 *		Random digits of any base, none more likely than another.
 *
 * Each draw turns 64 random bits into as many digits as 56 bits hold. The
 * numbers below 2^64 do not part evenly into base^count groups, so those behind
 * the last full round are refused: fewer than one in 256 of them.
 *
 * Plain C, without a server: the fuzzer links it.
 */
#include "codec_digits.h"

/* For a base of 2 to DIGITS_BASE_MAX. */
DigitDraw
digits_prepare(int base)
{
	DigitDraw draw = {base, 0, 0, 1, 0};

	for (int shift = 1; shift <= 8; shift++)
		if (base == 1 << shift)
			draw.shift = shift;
	while (draw.range <= (UINT64_C(1) << 56) / (uint64_t) base)
	{
		draw.range *= (uint64_t) base;
		draw.count++;
	}
	/* 2^64 mod range, which is taken off the top of the 64 bits. */
	draw.limit = UINT64_MAX - (0 - draw.range) % draw.range;
	return draw;
}

/* draw->count digits; false when the bits must be drawn again. */
bool
digits_draw(const DigitDraw *draw, uint64_t bits, uint8_t digits[DIGITS_MAX])
{
	if (bits > draw->limit)
		return false;
	if (draw->shift > 0)
	{
		for (int i = 0; i < draw->count; i++, bits >>= draw->shift)
			digits[i] = (uint8_t) (bits & (uint64_t) (draw->base - 1));
		return true;
	}
	for (int i = 0; i < draw->count; i++)
	{
		digits[i] = (uint8_t) (bits % (uint64_t) draw->base);
		bits /= (uint64_t) draw->base;
	}
	return true;
}
