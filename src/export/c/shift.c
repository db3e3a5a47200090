__attribute__((unused)) static uint64_t shift_left(uint64_t value, uint64_t bits) { return bits < 64 ? value << bits : 0; }
__attribute__((unused)) static uint64_t shift_right(uint64_t value, uint64_t bits) { return bits < 64 ? value >> bits : 0; }
