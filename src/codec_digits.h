/*
 * codec_digits.h
 *		Random digits of any base, none more likely than another.
 */
#ifndef IDGEN_CODEC_DIGITS_H
#define IDGEN_CODEC_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#define DIGITS_BASE_MAX 256
#define DIGITS_MAX 56 /* of one draw, in base 2 */

typedef struct DigitDraw
{
	int base;
	int count;      /* digits that one draw gives */
	int shift;      /* where base is 2 to the power of it; else 0 */
	uint64_t range; /* base to the power of count, at most 2^56 */
	uint64_t limit; /* draws above it are refused */
} DigitDraw;

/* codec_digits.c */
extern DigitDraw digits_prepare(int base);
extern bool
digits_draw(const DigitDraw *draw, uint64_t bits, uint8_t digits[DIGITS_MAX]);

#endif
