/*
 * codec_ff1.h
 *		FF1 (NIST SP 800-38G) over AES, in radix 2.
 */
#ifndef IDGEN_CODEC_FF1_H
#define IDGEN_CODEC_FF1_H

#include <stdbool.h>
#include <stdint.h>

#define FF1_BITS_MIN 20 /* the standard's 1,000,000 values, rounded up */
#define FF1_BITS_MAX 128

/* A number of so many bits, in the two halves that FF1 works on. */
typedef struct Ff1Number
{
	uint64_t high; /* bits / 2 of them, rounded down */
	uint64_t low;
} Ff1Number;

typedef struct Ff1
{
	struct evp_cipher_ctx_st *aes; /* NULL where ff1_init() failed */
	int high_bits;
	int low_bits;
	uint8_t start[16]; /* what AES makes of the block before each round's */
} Ff1;

/* codec_ff1.c */
extern bool ff1_init(Ff1 *ff1, const uint8_t *key, int key_length, int bits);
extern void ff1_free(Ff1 *ff1);
extern bool ff1_encrypt(const Ff1 *ff1, Ff1Number *number);
extern bool ff1_decrypt(const Ff1 *ff1, Ff1Number *number);

#endif
