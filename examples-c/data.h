/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The data that the examples move: made from a seed, so that the other side can check every byte. */
#ifndef EXAMPLES_C_DATA_H
#define EXAMPLES_C_DATA_H

#include <stdint.h>
#include <string.h>

/* Eight bytes that depend on the seed and on where they are, so that a piece in the wrong place is noticed too. */
static inline uint64_t pattern(uint64_t seed, uint64_t word) {
    uint64_t x = seed + (word + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline void fill(uint8_t *memory, uint64_t length, uint64_t seed) {
    for (uint64_t at = 0; at < length; at += 8) {
        uint64_t word = pattern(seed, at / 8);
        memcpy(memory + at, &word, length - at < 8 ? length - at : 8);
    }
}

/* The place of the first word that is not as the seed says, or length. */
static inline uint64_t first_difference(const uint8_t *memory, uint64_t length, uint64_t seed) {
    for (uint64_t at = 0; at < length; at += 8) {
        uint64_t word = pattern(seed, at / 8);
        if (memcmp(memory + at, &word, length - at < 8 ? length - at : 8) != 0) return at;
    }
    return length;
}

static inline uint64_t checksum(const uint8_t *memory, uint64_t length) {
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (uint64_t at = 0; at < length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, memory + at, length - at < 8 ? length - at : 8);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 32;
    }
    return sum;
}

#endif
