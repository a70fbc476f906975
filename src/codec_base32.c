/*
 * codec_base32.c
 *		26 characters of Crockford's base 32 for 128 bits, big-endian.
 *
 * 26 characters hold 130 bits, so the first is 0 to 7. Digits come before
 * letters and letters in their order: text in byte order sorts as the ids do,
 * within one case. The strict reading takes one text for each id and no other.
 *
 * Plain C, without a server: the fuzzer links it.
 */
#include "codec_base32.h"

#include "codec_bytes.h"

/* Each character's value + 1, marked with the reading that it needs. */
#define VALUE_MASK 0x3F
#define NEEDS_UPPER 0x40
#define NEEDS_LENIENT 0x80
#define LOWER(c, value) [c] = (value) + 1
#define LETTER(lower, upper, value)                                           \
	LOWER(lower, value), [upper] = ((value) + 1) | NEEDS_UPPER
#define LOOKALIKE(lower, upper, value)                                        \
	[lower] = ((value) + 1) | NEEDS_LENIENT, [upper] = ((value) + 1) |        \
													   NEEDS_LENIENT |        \
													   NEEDS_UPPER

static const uint8_t characters[256] = {
	LOWER('0', 0),          LOWER('1', 1),          LOWER('2', 2),
	LOWER('3', 3),          LOWER('4', 4),          LOWER('5', 5),
	LOWER('6', 6),          LOWER('7', 7),          LOWER('8', 8),
	LOWER('9', 9),          LETTER('a', 'A', 10),   LETTER('b', 'B', 11),
	LETTER('c', 'C', 12),   LETTER('d', 'D', 13),   LETTER('e', 'E', 14),
	LETTER('f', 'F', 15),   LETTER('g', 'G', 16),   LETTER('h', 'H', 17),
	LETTER('j', 'J', 18),   LETTER('k', 'K', 19),   LETTER('m', 'M', 20),
	LETTER('n', 'N', 21),   LETTER('p', 'P', 22),   LETTER('q', 'Q', 23),
	LETTER('r', 'R', 24),   LETTER('s', 'S', 25),   LETTER('t', 'T', 26),
	LETTER('v', 'V', 27),   LETTER('w', 'W', 28),   LETTER('x', 'X', 29),
	LETTER('y', 'Y', 30),   LETTER('z', 'Z', 31),   LOOKALIKE('i', 'I', 1),
	LOOKALIKE('l', 'L', 1), LOOKALIKE('o', 'O', 0),
};

/* Writes BASE32_LENGTH characters, and no end of string. */
void
base32_encode(const uint8_t id[16], bool upper, char *text)
{
	const char *digits = upper ? "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
							   : "0123456789abcdefghjkmnpqrstvwxyz";
	uint64_t high = bytes_load64(id);
	uint64_t low = bytes_load64(id + 8);

	for (int i = BASE32_LENGTH - 1; i >= 0; i--)
	{
		text[i] = digits[low & 31];
		low = low >> 5 | high << 59;
		high >>= 5;
	}
}

/* False when the text is no id in this reading; `id` is then not written. */
bool
base32_decode(const char *text, size_t length, int reading, uint8_t id[16])
{
	int refused = (reading & BASE32_UPPER ? 0 : NEEDS_UPPER) |
				  (reading & BASE32_LENIENT ? 0 : NEEDS_LENIENT);
	uint64_t high = 0;
	uint64_t low = 0;
	int count = 0;

	for (size_t i = 0; i < length; i++)
	{
		uint8_t found = characters[(uint8_t) text[i]];

		if (found == 0 && text[i] == '-' && reading & BASE32_LENIENT)
			continue;
		if (found == 0 || (found & refused) != 0 || count == BASE32_LENGTH)
			return false;
		found = (found & VALUE_MASK) - 1;
		if (count++ == 0 && found > 7)
			return false;
		high = high << 5 | low >> 59;
		low = low << 5 | found;
	}
	if (count != BASE32_LENGTH)
		return false;
	bytes_store64(id, high);
	bytes_store64(id + 8, low);
	return true;
}

/* Whether the strict reading knows the character. */
bool
base32_has(char c)
{
	uint8_t found = characters[(uint8_t) c];

	return found != 0 && (found & (NEEDS_UPPER | NEEDS_LENIENT)) == 0;
}
