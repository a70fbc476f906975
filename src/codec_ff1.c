/*
 * codec_ff1.c
 *		FF1 (NIST SP 800-38G) over AES, in radix 2 and without a tweak: a
 *		bijection on numbers of 20 to 128 bits that only the key tells.
 *
 * In radix 2 the standard's numeral strings are the bits of a number. Without
 * a tweak its blocks P and Q have 16 bytes each, so that all of P's share in a
 * round is known once the key is, and a round is one block of AES.
 *
 * No server: the fuzzer links it, with libcrypto.
 */
#include "codec_ff1.h"

#include <openssl/evp.h>
#include <string.h>

#include "codec_bytes.h"

#define ROUNDS 10

static bool
aes_block(const Ff1 *ff1, const uint8_t from[16], uint8_t to[16])
{
	int length = 0;

	return EVP_EncryptUpdate(ff1->aes, to, &length, from, 16) == 1 &&
		   length == 16;
}

/* P of the standard: version, method, radix, rounds, lengths. */
static bool
set_start(Ff1 *ff1)
{
	uint8_t block[16] = {1, 2, 1, 0, 0, 2, ROUNDS};

	block[7] = (uint8_t) ff1->high_bits;
	block[11] = (uint8_t) (ff1->high_bits + ff1->low_bits);
	return aes_block(ff1, block, ff1->start);
}

/*
 * For keys of 16, 24 or 32 bytes and FF1_BITS_MIN to FF1_BITS_MAX bits. False
 * when libcrypto fails. To be followed by ff1_free() in any case.
 */
bool
ff1_init(Ff1 *ff1, const uint8_t *key, int key_length, int bits)
{
	const EVP_CIPHER *cipher = key_length == 16   ? EVP_aes_128_ecb()
							   : key_length == 24 ? EVP_aes_192_ecb()
												  : EVP_aes_256_ecb();

	ff1->high_bits = bits / 2;
	ff1->low_bits = bits - ff1->high_bits;
	ff1->aes = EVP_CIPHER_CTX_new();
	return ff1->aes != NULL &&
		   EVP_EncryptInit_ex(ff1->aes, cipher, NULL, key, NULL) == 1 &&
		   EVP_CIPHER_CTX_set_padding(ff1->aes, 0) == 1 && set_start(ff1);
}

/* libcrypto wipes the key as it frees it. */
void
ff1_free(Ff1 *ff1)
{
	EVP_CIPHER_CTX_free(ff1->aes);
	ff1->aes = NULL;
}

static uint64_t
mask_of(int bits)
{
	return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* y of the standard's round, as far as a half can hold it: modulo 2^64. */
static bool
round_value(const Ff1 *ff1, int round, uint64_t half, uint64_t *value)
{
	/* b and d of the standard. */
	int half_bytes = (ff1->low_bits + 7) / 8;
	int value_bytes = (half_bytes + 3) / 4 * 4 + 4;
	uint8_t number[8];
	uint8_t block[16];

	/* Q: zeros, the round, the half; chained to P as CBC-MAC does. */
	memcpy(block, ff1->start, 16);
	block[15 - half_bytes] ^= (uint8_t) round;
	bytes_store64(number, half);
	for (int i = 0; i < half_bytes; i++)
		block[16 - half_bytes + i] ^= number[8 - half_bytes + i];
	if (!aes_block(ff1, block, block))
		return false;
	*value = bytes_load64(block + value_bytes - 8);
	return true;
}

/* False when libcrypto fails. */
bool
ff1_encrypt(const Ff1 *ff1, Ff1Number *number)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		int bits = round % 2 == 0 ? ff1->high_bits : ff1->low_bits;
		uint64_t value;

		if (!round_value(ff1, round, number->low, &value))
			return false;
		value = (number->high + value) & mask_of(bits);
		number->high = number->low;
		number->low = value;
	}
	return true;
}

/* False when libcrypto fails. */
bool
ff1_decrypt(const Ff1 *ff1, Ff1Number *number)
{
	for (int round = ROUNDS - 1; round >= 0; round--)
	{
		int bits = round % 2 == 0 ? ff1->high_bits : ff1->low_bits;
		uint64_t value;

		if (!round_value(ff1, round, number->high, &value))
			return false;
		value = (number->low - value) & mask_of(bits);
		number->low = number->high;
		number->high = value;
	}
	return true;
}
