/*
 * codecs.c
 *		libFuzzer target over the codecs, outside the server; TARGET says which.
 *
 * Sanitizers watch the memory; what the values must be is checked here: what
 * decodes encodes to the same text where a format has one text for each id,
 * what encodes decodes to the same, and where a rule is easy to say in another
 * way, it is said so and compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec_base32.h"
#include "codec_bytes.h"
#include "codec_digits.h"
#include "codec_ff1.h"
#include "codec_ksuid.h"
#include "codec_sqids.h"
#include "codec_typeid.h"
#include "codec_ulid.h"

#define CHECK(what)                                                           \
	do                                                                        \
	{                                                                         \
		if (!(what))                                                          \
		{                                                                     \
			fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #what);    \
			abort();                                                          \
		}                                                                     \
	} while (0)

/* What is left of the input. Reading beyond it gives zeros. */
typedef struct Input
{
	const uint8_t *at;
	size_t left;
} Input;

static void
take(Input *input, void *to, size_t length)
{
	size_t part = length < input->left ? length : input->left;

	memset(to, 0, length);
	memcpy(to, input->at, part);
	input->at += part;
	input->left -= part;
}

static uint8_t
take_byte(Input *input)
{
	uint8_t byte;

	take(input, &byte, 1);
	return byte;
}

static uint64_t
take_number(Input *input)
{
	uint64_t number;

	take(input, &number, sizeof(number));
	return number;
}

/* Of exactly that size, so that the sanitizer sees one byte too many. */
static char *
buffer(size_t size)
{
	char *made = malloc(size > 0 ? size : 1);

	CHECK(made != NULL);
	return made;
}

static inline void
fuzz_base32(Input *input)
{
	int reading = take_byte(input) & (BASE32_UPPER | BASE32_LENIENT);
	const char *text = (const char *) input->at;
	char *again = buffer(BASE32_LENGTH);
	uint8_t id[16];
	uint8_t same[16];

	take(&(Input){input->at, input->left}, id, 16);
	base32_encode(id, reading & BASE32_UPPER, again);
	CHECK(base32_decode(again, BASE32_LENGTH, reading, same));
	CHECK(memcmp(id, same, 16) == 0);
	if (base32_decode(text, input->left, reading, id))
	{
		bool upper = reading & BASE32_UPPER && text[0] != again[0];

		base32_encode(id, upper, again);
		CHECK(base32_decode(again, BASE32_LENGTH, BASE32_UPPER, same));
		CHECK(memcmp(id, same, 16) == 0);
		if (reading == 0)
		{
			CHECK(input->left == BASE32_LENGTH);
			CHECK(memcmp(text, again, BASE32_LENGTH) == 0);
		}
	}
	/* All of the alphabet: what decodes is up to the first character. */
	for (int i = 0; i < BASE32_LENGTH; i++)
		again[i] = "0123456789abcdefghjkmnpqrstvwxyz"[take_byte(input) & 31];
	CHECK(base32_decode(again, BASE32_LENGTH, reading, id) ==
		  (again[0] <= '7'));
	free(again);
}

/* The specification's pattern for a prefix and a suffix, said anew. */
static bool
looks_like_typeid(const char *text, size_t length)
{
	size_t prefix;

	if (length < BASE32_LENGTH)
		return false;
	prefix = length - BASE32_LENGTH;
	if (text[prefix] < '0' || text[prefix] > '7')
		return false;
	for (size_t i = prefix; i < length; i++)
		if (text[i] == 0 ||
			strchr("0123456789abcdefghjkmnpqrstvwxyz", text[i]) == NULL)
			return false;
	if (prefix == 0)
		return true;
	if (prefix < 2 || prefix > 64 || text[prefix - 1] != '_' ||
		text[prefix - 2] == '_' || text[0] == '_')
		return false;
	for (size_t i = 0; i < prefix; i++)
		if (text[i] != '_' && (text[i] < 'a' || text[i] > 'z'))
			return false;
	return true;
}

static inline void
fuzz_typeid(Input *input)
{
	const char *text = (const char *) input->at;
	size_t prefix_length = 0;
	uint8_t id[16];
	TypeidFault fault = typeid_parse(text, input->left, &prefix_length, id);

	CHECK((fault == TYPEID_OK) == looks_like_typeid(text, input->left));
	if (fault == TYPEID_OK)
	{
		char *again = buffer(input->left);

		CHECK(typeid_prefix_fault(text, prefix_length) == TYPEID_OK);
		CHECK(typeid_compose(text, prefix_length, id, again) == input->left);
		CHECK(memcmp(text, again, input->left) == 0);
		free(again);
	}
}

static inline void
fuzz_ulid(Input *input)
{
	int64_t ms = (int64_t) (take_number(input) >> 16);
	uint64_t step = take_number(input) >> (take_byte(input) & 63);
	unsigned __int128 tail = 0;
	unsigned __int128 found = 0;
	uint8_t start[ULID_TAIL_BYTES];
	uint8_t id[16];
	bool fits;

	take(input, start, ULID_TAIL_BYTES);
	for (int i = 0; i < ULID_TAIL_BYTES; i++)
		tail = tail << 8 | start[i];
	tail += step;
	fits = ulid_compose(ms, start, step, id);
	CHECK(fits == (tail >> 80 == 0));
	if (!fits)
		return;
	CHECK(ulid_unix_ms(id) == ms);
	for (int i = 6; i < 16; i++)
		found = found << 8 | id[i];
	CHECK(found == tail);
}

static inline void
fuzz_ksuid(Input *input)
{
	const char *text = (const char *) input->at;
	char *again = buffer(KSUID_LENGTH);
	uint8_t id[KSUID_BYTES];
	uint8_t same[KSUID_BYTES];

	if (ksuid_from_text(text, input->left, id))
	{
		ksuid_to_text(id, again);
		CHECK(input->left == KSUID_LENGTH);
		CHECK(memcmp(text, again, KSUID_LENGTH) == 0);
	}
	take(input, id, KSUID_BYTES);
	ksuid_to_text(id, again);
	CHECK(ksuid_from_text(again, KSUID_LENGTH, same));
	CHECK(memcmp(id, same, KSUID_BYTES) == 0);
	free(again);
}

/* The specification's rule for a blocked text, word by word. */
static bool
has_word(const char *text, size_t length, const SqidsWord *word)
{
	char *lower = buffer(length);
	bool found = false;

	for (size_t i = 0; i < length; i++)
		lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i];
	if (word->length <= length)
	{
		size_t last = length - word->length;

		if (length <= 3 || word->length <= 3)
			found = last == 0 && memcmp(lower, word->text, length) == 0;
		else if (word->has_digit)
			found = memcmp(lower, word->text, word->length) == 0 ||
					memcmp(lower + last, word->text, word->length) == 0;
		else
			for (size_t i = 0; i <= last && !found; i++)
				found = memcmp(lower + i, word->text, word->length) == 0;
	}
	free(lower);
	return found;
}

#define WORDS 8
#define NUMBERS 64

static void
check_text(const Sqids *sqids,
		   const SqidsWord *words,
		   int word_count,
		   const int64_t *numbers,
		   int count,
		   int min_length)
{
	char *text = buffer(SQIDS_TEXT_MAX(count));
	char *lower = buffer(SQIDS_TEXT_MAX(count));
	size_t length;

	if (sqids_to_text(sqids, numbers, count, min_length, text, lower, &length))
	{
		int64_t *same = (int64_t *) buffer((length / 2 + 1) * 8);

		CHECK(length <= SQIDS_TEXT_MAX(count));
		CHECK(count == 0 || length >= (size_t) min_length);
		CHECK(sqids_from_text(sqids, text, length, same) == count);
		CHECK(memcmp(numbers, same, (size_t) count * 8) == 0);
		for (int i = 0; i < word_count; i++)
			CHECK(!has_word(text, length, &words[i]));
		free(same);
	}
	else
		CHECK(word_count > 0);
	free(text);
	free(lower);
}

/* A number that is near the greatest, and what comes of another last digit. */
static void
check_greatest(const Sqids *sqids, uint8_t less, uint8_t last)
{
	int64_t number = INT64_MAX - less;
	int64_t same[32];
	char text[SQIDS_TEXT_MAX(1)];
	char lower[SQIDS_TEXT_MAX(1)];
	size_t length;

	if (!sqids_to_text(sqids, &number, 1, 0, text, lower, &length))
		return;
	text[length - 1] = (char) sqids->alphabet[last % sqids->size];
	if (sqids_from_text(sqids, text, length, same) == 1)
		CHECK(length < 5 || same[0] > 0);
}

static inline void
fuzz_sqids(Input *input)
{
	char alphabet[SQIDS_ALPHABET_MAX];
	bool used[256] = {false};
	int size = 0;
	int want = take_byte(input);
	int min_length = take_byte(input);
	int numbers_count = take_byte(input) % (NUMBERS + 1);
	int words_count = 0;
	int64_t numbers[NUMBERS];
	int64_t *decoded;
	int count;
	SqidsWord words[WORDS];
	SqidsWord sorted[WORDS];
	char lower[WORDS][8];
	Sqids sqids;

	/* Small alphabets as often as all others: their texts are the longest. */
	want = want % 2 == 0 ? SQIDS_ALPHABET_MIN + want / 2 % 4 : want / 2;
	for (int i = 0; i < 256 && size < want; i++)
	{
		uint8_t c = i < 64 ? take_byte(input) & 127 : (uint8_t) (i ^ 97) & 127;

		if (c != 0 && !used[c])
			alphabet[size++] = (char) c;
		used[c] = true;
	}
	if (size < SQIDS_ALPHABET_MIN)
		return;
	sqids_set_alphabet(&sqids, alphabet, size);
	for (int i = 0; i < WORDS; i++)
	{
		char word[8];
		size_t length = take_byte(input) % 9;

		take(input, word, length);
		if (sqids_word(&sqids, word, length, lower[i], &words[words_count]))
			words_count++;
	}
	sqids_set_words(&sqids, words, words_count, sorted);
	for (int i = 0; i < numbers_count; i++)
		numbers[i] =
			(int64_t) (take_number(input) >> 1 >> (take_byte(input) & 60));
	check_text(&sqids, words, words_count, numbers, numbers_count, min_length);

	check_greatest(&sqids, take_byte(input), take_byte(input));
	if (size < 8 && take_byte(input) % 8 == 0)
	{
		for (int i = 0; i < NUMBERS; i++)
			numbers[i] = INT64_MAX;
		check_text(&sqids, words, words_count, numbers, NUMBERS, min_length);
	}
	decoded = (int64_t *) buffer((input->left / 2 + 1) * 8);
	count = sqids_from_text(&sqids,
							(const char *) input->at,
							input->left,
							decoded);
	CHECK(count <= (int) (input->left / 2));
	for (int i = 0; i < count; i++)
		CHECK(decoded[i] >= 0);
	if (count > 0 && count <= NUMBERS)
		check_text(&sqids, words, words_count, decoded, count, min_length);
	free(decoded);
}

static inline void
fuzz_digits(Input *input)
{
	int base = 2 + take_byte(input) % (DIGITS_BASE_MAX - 1);
	DigitDraw draw = digits_prepare(base);
	uint64_t bits = take_number(input);
	uint64_t whole = 0;
	uint8_t *digits = (uint8_t *) buffer(DIGITS_MAX);

	if (take_byte(input) % 2 == 0)
		bits = UINT64_MAX - bits % 1024;
	CHECK(draw.count >= 1 && draw.count <= DIGITS_MAX);
	/* Whole rounds only, and but one round less than 64 bits have. */
	CHECK(((unsigned __int128) draw.limit + 1) % draw.range == 0);
	CHECK(UINT64_MAX - draw.limit < draw.range);
	CHECK(draw.range <= UINT64_C(1) << 56);
	if (digits_draw(&draw, bits, digits))
	{
		for (int i = draw.count - 1; i >= 0; i--)
		{
			CHECK(digits[i] < base);
			whole = whole * (uint64_t) base + digits[i];
		}
		CHECK(whole == bits % draw.range);
		CHECK(bits <= draw.limit);
	}
	else
		CHECK(bits > draw.limit);
	free(digits);
}

static inline void
fuzz_ff1(Input *input)
{
	static const int lengths[] = {16, 24, 32};
	int length = lengths[take_byte(input) % 3];
	int bits =
		FF1_BITS_MIN + take_byte(input) % (FF1_BITS_MAX - FF1_BITS_MIN + 1);
	uint8_t *key = (uint8_t *) buffer((size_t) length);
	Ff1Number number;
	Ff1Number masked;
	Ff1 ff1;

	take(input, key, (size_t) length);
	CHECK(ff1_init(&ff1, key, length, bits));
	CHECK(ff1.high_bits + ff1.low_bits == bits);
	number.high = take_number(input) >> (64 - ff1.high_bits);
	number.low = take_number(input) >> (64 - ff1.low_bits);
	masked = number;
	CHECK(ff1_encrypt(&ff1, &masked));
	CHECK(masked.high >> (ff1.high_bits - 1) <= 1);
	CHECK(masked.low >> (ff1.low_bits - 1) <= 1);
	CHECK(ff1_decrypt(&ff1, &masked));
	CHECK(masked.high == number.high && masked.low == number.low);
	ff1_free(&ff1);
	free(key);
}

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TARGET(&(Input){data, size});
	return 0;
}
