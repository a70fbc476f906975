/*
 * codec_sqids.c
 *		Sqids, as their specification has them: lists of numbers as short text
 *		in which no word of a blocklist stands.
 *
 * The alphabet is shuffled, rotated by an offset that the numbers give, and
 * its first character begins the text. Then come the numbers, each in the base
 * of the alphabet without its first character, which parts it from the next;
 * the alphabet is shuffled after each. A text that has a blocked word is made
 * anew with the next offset.
 *
 * Plain C, without a server: the fuzzer links it.
 */
#include "codec_sqids.h"

#include <string.h>

#define SHORT_LENGTH 3 /* so short a word, or text, is blocked as a whole */

static void
swap(uint8_t *a, uint8_t *b)
{
	uint8_t kept = *a;

	*a = *b;
	*b = kept;
}

/* The specification's shuffle, which depends on nothing but the alphabet. */
static void
shuffle(uint8_t *alphabet, int size)
{
	for (int i = 0, j = size - 1; j > 0; i++, j--)
		swap(&alphabet[i],
			 &alphabet[(i * j + alphabet[i] + alphabet[j]) % size]);
}

/* The alphabet from an offset on, reversed: what a text begins with. */
static void
start_alphabet(const Sqids *sqids, int offset, uint8_t *alphabet)
{
	for (int i = 0; i < sqids->size; i++)
		alphabet[sqids->size - 1 - i] =
			sqids->alphabet[(offset + i) % sqids->size];
}

static char
lower_case(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

/* For 3 to 127 characters of ASCII, all different; no words count then. */
void
sqids_set_alphabet(Sqids *sqids, const char *alphabet, int size)
{
	sqids->size = size;
	memcpy(sqids->alphabet, alphabet, (size_t) size);
	shuffle(sqids->alphabet, size);
	sqids->words = NULL;
	memset(sqids->first, 0, sizeof(sqids->first));
}

/*
 * Whether a word of a blocklist counts for the alphabet: one of 3 characters
 * or more that all occur in it, in either case. `lower` has room for it and
 * must last as long as the word that is found.
 */
bool
sqids_word(const Sqids *sqids,
		   const char *word,
		   size_t length,
		   char *lower,
		   SqidsWord *found)
{
	bool occurs[256] = {false};

	if (length < SHORT_LENGTH)
		return false;
	for (int i = 0; i < sqids->size; i++)
		occurs[(uint8_t) lower_case((char) sqids->alphabet[i])] = true;
	*found = (SqidsWord){lower, length, false};
	for (size_t i = 0; i < length; i++)
	{
		lower[i] = lower_case(word[i]);
		if (!occurs[(uint8_t) lower[i]])
			return false;
		if (lower[i] >= '0' && lower[i] <= '9')
			found->has_digit = true;
	}
	return true;
}

/* Takes words that sqids_word() found; `sorted` has room for them, and lasts. */
void
sqids_set_words(Sqids *sqids,
				const SqidsWord *words,
				int count,
				SqidsWord *sorted)
{
	int next[SQIDS_ALPHABET_MAX + 2];

	memset(sqids->first, 0, sizeof(sqids->first));
	for (int i = 0; i < count; i++)
		sqids->first[(uint8_t) words[i].text[0] + 1]++;
	for (int c = 1; c < SQIDS_ALPHABET_MAX + 2; c++)
		sqids->first[c] += sqids->first[c - 1];
	memcpy(next, sqids->first, sizeof(next));
	for (int i = 0; i < count; i++)
		sorted[next[(uint8_t) words[i].text[0]]++] = words[i];
	sqids->words = sorted;
}

/* Whether a word that stands at `at` in the text blocks it. */
static bool
blocks(const SqidsWord *word, const char *text, size_t length, size_t at)
{
	size_t end = at + word->length;

	if (end > length || memcmp(text + at, word->text, word->length) != 0)
		return false;
	if (length <= SHORT_LENGTH || word->length <= SHORT_LENGTH)
		return word->length == length;
	return !word->has_digit || at == 0 || end == length;
}

/* `lower` has room for the text in lower case. */
static bool
is_blocked(const Sqids *sqids, const char *text, size_t length, char *lower)
{
	if (sqids->words == NULL)
		return false;
	for (size_t i = 0; i < length; i++)
		lower[i] = lower_case(text[i]);
	for (size_t at = 0; at < length; at++)
	{
		uint8_t c = (uint8_t) lower[at];

		for (int i = sqids->first[c]; i < sqids->first[c + 1]; i++)
			if (blocks(&sqids->words[i], lower, length, at))
				return true;
	}
	return false;
}

/* Writes the number's digits, the first of `alphabet` left out; how many. */
static size_t
write_number(const uint8_t *alphabet, int size, uint64_t number, char *text)
{
	char digits[64];
	size_t count = 0;

	do
	{
		digits[count++] = (char) alphabet[1 + number % (uint64_t) (size - 1)];
		number /= (uint64_t) (size - 1);
	} while (number > 0);
	for (size_t i = 0; i < count; i++)
		text[i] = digits[count - 1 - i];
	return count;
}

/* One attempt, from an offset; the length. */
static size_t
write_text(const Sqids *sqids,
		   const int64_t *numbers,
		   int count,
		   size_t min_length,
		   int offset,
		   char *text)
{
	uint8_t alphabet[SQIDS_ALPHABET_MAX];
	size_t length = 1;

	text[0] = (char) sqids->alphabet[offset];
	start_alphabet(sqids, offset, alphabet);
	for (int i = 0; i < count; i++)
	{
		if (i > 0)
		{
			text[length++] = (char) alphabet[0];
			shuffle(alphabet, sqids->size);
		}
		length += write_number(alphabet,
							   sqids->size,
							   (uint64_t) numbers[i],
							   text + length);
	}
	/* Two separators in a row: what follows says nothing. */
	if (length < min_length)
		text[length++] = (char) alphabet[0];
	while (length < min_length)
	{
		size_t part = min_length - length;

		if (part > (size_t) sqids->size)
			part = (size_t) sqids->size;
		shuffle(alphabet, sqids->size);
		memcpy(text + length, alphabet, part);
		length += part;
	}
	return length;
}

/*
 * Writes the text of numbers, none of them negative; `text` and `lower` have
 * room for SQIDS_TEXT_MAX(count). False when all attempts are blocked.
 */
bool
sqids_to_text(const Sqids *sqids,
			  const int64_t *numbers,
			  int count,
			  int min_length,
			  char *text,
			  char *lower,
			  size_t *length)
{
	int64_t offset = count;

	*length = 0;
	if (count == 0)
		return true;
	for (int i = 0; i < count; i++)
		offset += sqids->alphabet[numbers[i] % sqids->size] + i;
	for (int attempt = 0; attempt <= sqids->size; attempt++)
	{
		*length = write_text(sqids,
							 numbers,
							 count,
							 (size_t) min_length,
							 (int) ((offset + attempt) % sqids->size),
							 text);
		if (!is_blocked(sqids, text, *length, lower))
			return true;
	}
	return false;
}

/* Where each character stands in the alphabet; -1 for others. */
static void
places(const uint8_t *alphabet, int size, int8_t place[256])
{
	memset(place, -1, 256);
	for (int i = 0; i < size; i++)
		place[alphabet[i]] = (int8_t) i;
}

/* -1 for a number beyond 63 bits; else what the digits mean. */
static int64_t
read_number(const int8_t place[256], int size, const char *text, size_t length)
{
	int64_t number = 0;
	int64_t base = size - 1;

	for (size_t i = 0; i < length; i++)
	{
		int64_t digit = place[(uint8_t) text[i]] - 1;

		if (number > (INT64_MAX - digit) / base)
			return -1;
		number = number * base + digit;
	}
	return number;
}

/*
 * Reads a text into at most length / 2 numbers, and SQIDS_NUMBERS_MAX. How
 * many; -1 for what is no text of numbers, more of them, or greater ones.
 */
int
sqids_from_text(const Sqids *sqids,
				const char *text,
				size_t length,
				int64_t *numbers)
{
	uint8_t alphabet[SQIDS_ALPHABET_MAX];
	int8_t place[256];
	int count = 0;
	size_t at = 1;

	if (length == 0)
		return 0;
	places(sqids->alphabet, sqids->size, place);
	for (size_t i = 0; i < length; i++)
		if (place[(uint8_t) text[i]] < 0)
			return -1;
	start_alphabet(sqids, place[(uint8_t) text[0]], alphabet);
	while (at < length)
	{
		const char *end = memchr(text + at, alphabet[0], length - at);
		size_t digits = end == NULL ? length - at : (size_t) (end - text) - at;

		if (digits == 0)
			break;
		if (count == SQIDS_NUMBERS_MAX)
			return -1;
		places(alphabet, sqids->size, place);
		numbers[count] = read_number(place, sqids->size, text + at, digits);
		if (numbers[count++] < 0)
			return -1;
		shuffle(alphabet, sqids->size);
		at += digits + 1;
	}
	return count == 0 ? -1 : count;
}
