#!/usr/bin/env python3
"""ff1.py [--check FILE]: FF1 of NIST SP 800-38G in any radix, over an AES of its own.

It checks itself against FIPS 197 and the standard's samples, then prints the
values of masks that ff1.tsv holds, or compares FILE with them.  Nothing is
shared with the extension: the two agree because both follow the standard.
"""

import hashlib
import sys

# AES (FIPS 197), one block at a time.


def double(a):
    return (a << 1 ^ (0x11B if a & 0x80 else 0)) & 0xFF


def multiply(a, b):
    product = 0
    while b:
        if b & 1:
            product ^= a
        a, b = double(a), b >> 1
    return product


def make_box():
    box = []
    for byte in range(256):
        inverse = next((x for x in range(256) if multiply(byte, x) == 1), 0)
        box.append(0x63 ^ inverse ^ rotate(inverse, 1) ^ rotate(inverse, 2) ^ rotate(inverse, 3) ^ rotate(inverse, 4))
    return box


def rotate(byte, by):
    return (byte << by | byte >> (8 - by)) & 0xFF


BOX = make_box()


def expand(key):
    count = len(key) // 4
    words = [list(key[4 * i:4 * i + 4]) for i in range(count)]
    constant = 1
    for i in range(count, 4 * (count + 7)):
        word = list(words[-1])
        if i % count == 0:
            word = [BOX[b] for b in word[1:] + word[:1]]
            word[0] ^= constant
            constant = double(constant)
        elif count > 6 and i % count == 4:
            word = [BOX[b] for b in word]
        words.append([a ^ b for a, b in zip(word, words[-count])])
    return [sum(words[i:i + 4], []) for i in range(0, len(words), 4)]


def aes(key, block):
    keys = expand(key)
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number, round_key in enumerate(keys[1:], 1):
        state = [BOX[b] for b in state]
        state = [state[(i + 4 * (i % 4)) % 16] for i in range(16)]
        if number < len(keys) - 1:
            state = mix(state)
        state = [a ^ b for a, b in zip(state, round_key)]
    return bytes(state)


def mix(state):
    mixed = []
    for column in range(0, 16, 4):
        a = state[column:column + 4]
        mixed += [multiply(a[i], 2) ^ multiply(a[(i + 1) % 4], 3) ^ a[(i + 2) % 4] ^ a[(i + 3) % 4] for i in range(4)]
    return mixed


# FF1 (SP 800-38G, algorithms 7 and 8), with the standard's names.


def num(digits, radix):
    x = 0
    for digit in digits:
        x = x * radix + digit
    return x


def digits_of(x, radix, m):
    digits = []
    for _ in range(m):
        x, digit = divmod(x, radix)
        digits.insert(0, digit)
    return digits


def round_value(key, radix, tweak, n, i, half):
    u = n // 2
    v = n - u
    # ceil(v log2 radix / 8), in whole numbers
    b = ((radix ** v - 1).bit_length() + 7) // 8
    d = 4 * ((b + 3) // 4) + 4
    t = len(tweak)
    p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big") + t.to_bytes(4, "big")
    q = tweak + bytes((-t - b - 1) % 16) + bytes([i]) + num(half, radix).to_bytes(b, "big")
    r = bytes(16)
    for at in range(0, len(p + q), 16):
        r = aes(key, bytes(a ^ c for a, c in zip(r, (p + q)[at:at + 16])))
    s = r
    for j in range(1, (d + 15) // 16):
        s += aes(key, bytes(a ^ c for a, c in zip(r, j.to_bytes(16, "big"))))
    return int.from_bytes(s[:d], "big")


def encrypt(key, radix, tweak, digits):
    n = len(digits)
    u = n // 2
    a, b = digits[:u], digits[u:]
    for i in range(10):
        m = u if i % 2 == 0 else n - u
        c = (num(a, radix) + round_value(key, radix, tweak, n, i, b)) % radix ** m
        a, b = b, digits_of(c, radix, m)
    return a + b


def decrypt(key, radix, tweak, digits):
    n = len(digits)
    u = n // 2
    a, b = digits[:u], digits[u:]
    for i in reversed(range(10)):
        m = u if i % 2 == 0 else n - u
        c = (num(b, radix) - round_value(key, radix, tweak, n, i, a)) % radix ** m
        a, b = digits_of(c, radix, m), a
    return a + b


# What others published.

NIST_KEY = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94")
NIST_SAMPLES = [
    (16, 10, "", "0123456789", "2433477484"),
    (16, 10, "39383736353433323130", "0123456789", "6124200773"),
    (16, 36, "3737373770717273373737", "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (24, 10, "", "0123456789", "2830668132"),
    (24, 10, "39383736353433323130", "0123456789", "2496655549"),
    (24, 36, "3737373770717273373737", "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
    (32, 10, "", "0123456789", "6657667009"),
    (32, 10, "39383736353433323130", "0123456789", "1001623463"),
    (32, 36, "3737373770717273373737", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
]
FIPS_197 = [
    (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
    (32, "8ea2b7ca516745bfeafc49904b496089"),
]


def check_self():
    for length, expected in FIPS_197:
        assert aes(bytes(range(length)), bytes.fromhex("00112233445566778899aabbccddeeff")).hex() == expected
    for length, radix, tweak, plain, expected in NIST_SAMPLES:
        key, tweak, digits = NIST_KEY[:length], bytes.fromhex(tweak), [int(c, 36) for c in plain]
        masked = encrypt(key, radix, tweak, digits)
        assert masked == [int(c, 36) for c in expected], (plain, expected)
        assert decrypt(key, radix, tweak, masked) == digits


# The values.


def mask(key, bits, x):
    digits = digits_of(x, 2, bits)
    masked = encrypt(key, 2, b"", digits)
    assert decrypt(key, 2, b"", masked) == digits
    return num(masked, 2)


def signed(x):
    return x - (1 << 64) if x >> 63 else x


def free_bits(uuid):
    return uuid >> 80 << 74 | (uuid >> 64 & 0xFFF) << 62 | uuid & (1 << 62) - 1


def uuid_of(bits, version):
    uuid = bits >> 74 << 80 | version << 76 | (bits >> 62 & 0xFFF) << 64 | 2 << 62 | bits & (1 << 62) - 1
    text = f"{uuid:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def values():
    yield "key\tbits\tplain\tmasked"
    for length in (16, 24, 32):
        key = NIST_KEY[:length]
        for bits in (20, 21, 31, 32, 53, 63, 64):
            spread = int.from_bytes(hashlib.sha256(b"%d %d" % (length, bits)).digest(), "big") % (1 << bits)
            for x in (0, 1, 2, 1000, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1, spread):
                masked = mask(key, bits, x)
                yield f"{key.hex()}\t{bits}\t{signed(x)}\t{signed(masked)}"
        for text in ("00000000-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff",
                     "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c073990"):
            x = free_bits(int(text.replace("-", ""), 16))
            assert uuid_of(x, 7) == text
            yield f"{key.hex()}\t122\t{text}\t{uuid_of(mask(key, 122, x), 4)}"


def main():
    check_self()
    lines = list(values())
    if len(sys.argv) == 1:
        print("\n".join(lines))
    elif sys.argv[1] == "--check" and len(sys.argv) == 3:
        with open(sys.argv[2], encoding="ascii") as file:
            if file.read().splitlines() != lines:
                sys.exit(f"{sys.argv[2]} has other values")
    else:
        sys.exit(__doc__)


main()
