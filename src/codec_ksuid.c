/*
 * codec_ksuid.c
 *		27 characters of base 62 for the 20 bytes of a KSUID, big-endian.
 *
 * Digits come before upper case and that before lower case, as in ASCII, and
 * all texts are of one length: text in byte order sorts as the bytes do.
 *
 * Plain C, without a server: the fuzzer links it.
 */
#include "codec_ksuid.h"

#define WORDS (KSUID_BYTES / 4)
#define BASE 62
#define BASE_POWER_5 916132832 /* 62^5, the largest that has 32 bits */

static void
words_load(const uint8_t id[KSUID_BYTES], uint32_t words[WORDS])
{
	for (int i = 0; i < WORDS; i++)
		words[i] = (uint32_t) id[4 * i] << 24 |
				   (uint32_t) id[4 * i + 1] << 16 |
				   (uint32_t) id[4 * i + 2] << 8 | id[4 * i + 3];
}

/* Divides the number in place; the remainder. */
static uint32_t
words_divide(uint32_t words[WORDS], uint32_t by)
{
	uint64_t rest = 0;

	for (int i = 0; i < WORDS; i++)
	{
		rest = rest << 32 | words[i];
		words[i] = (uint32_t) (rest / by);
		rest %= by;
	}
	return (uint32_t) rest;
}

/* Writes KSUID_LENGTH characters, and no end of string. */
void
ksuid_to_text(const uint8_t id[KSUID_BYTES], char *text)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
								 "abcdefghijklmnopqrstuvwxyz";
	uint32_t words[WORDS];
	int left = KSUID_LENGTH;

	words_load(id, words);
	while (left > 0)
	{
		uint32_t part = words_divide(words, BASE_POWER_5);

		for (int i = 0; i < 5 && left > 0; i++)
		{
			text[--left] = digits[part % BASE];
			part /= BASE;
		}
	}
}

/* The digit's value; negative for what is none. */
static int
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 36;
	return -1;
}

/* False when the text is no KSUID; `id` is then not written. */
bool
ksuid_from_text(const char *text, size_t length, uint8_t id[KSUID_BYTES])
{
	uint32_t words[WORDS] = {0};

	if (length != KSUID_LENGTH)
		return false;
	for (int i = 0; i < KSUID_LENGTH; i++)
	{
		int value = digit_value(text[i]);
		uint64_t carry = (uint64_t) value;

		if (value < 0)
			return false;
		for (int w = WORDS - 1; w >= 0; w--)
		{
			carry += (uint64_t) words[w] * BASE;
			words[w] = (uint32_t) carry;
			carry >>= 32;
		}
		if (carry != 0)
			return false;
	}
	for (int i = 0; i < KSUID_BYTES; i++)
		id[i] = (uint8_t) (words[i / 4] >> (24 - i % 4 * 8));
	return true;
}
