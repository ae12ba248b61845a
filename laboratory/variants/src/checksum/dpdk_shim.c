/* DPDK's inline checksum with the checksum family's C signature. */
#include <rte_ip.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __AVX__
#error "the variant declares SSE4.2 at most: take -march and -mavx out of CFLAGS"
#endif

uint32_t carryline_dpdk_sum(const void *data, size_t len, uint32_t seed);

/* The seed goes on afterwards, with its carry: the inner sum, which would take it, wraps at 32 bits. */
uint32_t carryline_dpdk_sum(const void *data, size_t len, uint32_t seed)
{
	uint32_t total = seed + rte_raw_cksum(data, len);

	return total + (total < seed);
}
