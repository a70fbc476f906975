/*
 * codec_sqids.h
 *		Sqids: lists of numbers as short text.
 */
#ifndef IDGEN_CODEC_SQIDS_H
#define IDGEN_CODEC_SQIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQIDS_ALPHABET_MIN 3
#define SQIDS_ALPHABET_MAX 127 /* ASCII without NUL */
#define SQIDS_MIN_LENGTH_MAX 255
#define SQIDS_NUMBERS_MAX 10000
#define SQIDS_BLOCKLIST_SIZE 560

/* Room for the text of so many numbers, 63 binary digits each at the most. */
#define SQIDS_TEXT_MAX(count) (1 + (size_t) (count) *64 + SQIDS_MIN_LENGTH_MAX)

typedef struct SqidsWord
{
	const char *text; /* lower case, not terminated */
	size_t length;
	bool has_digit;
} SqidsWord;

typedef struct Sqids
{
	int size; /* of the alphabet */
	uint8_t alphabet[SQIDS_ALPHABET_MAX];

	/* The words that count, those that begin with c from first[c] on. */
	const SqidsWord *words;
	int first[SQIDS_ALPHABET_MAX + 2];
} Sqids;

/* codec_sqids.c */
extern void sqids_set_alphabet(Sqids *sqids, const char *alphabet, int size);
extern bool sqids_word(const Sqids *sqids,
					   const char *word,
					   size_t length,
					   char *lower,
					   SqidsWord *found);
extern void sqids_set_words(Sqids *sqids,
							const SqidsWord *words,
							int count,
							SqidsWord *sorted);
extern bool sqids_to_text(const Sqids *sqids,
						  const int64_t *numbers,
						  int count,
						  int min_length,
						  char *text,
						  char *lower,
						  size_t *length);
extern int sqids_from_text(const Sqids *sqids,
						   const char *text,
						   size_t length,
						   int64_t *numbers);

/* codec_sqids_blocklist.c */
extern const char *const sqids_blocklist[SQIDS_BLOCKLIST_SIZE];

#endif
