// SPDX-License-Identifier: GPL-2.0
/*
 * Pauses of IEEE 802.1Q, clause 36: thresholds, times, frames.
 */
#include "unit.h"
#include "core/pfc.h"

/* A neighbour waits above an eighth of what is free and goes on two packets below. */
TEST(thresholds)
{
	CHECK(!pfc_pauses(100000, 800000));
	CHECK(pfc_pauses(100001, 800000));
	CHECK(pfc_pauses(1, 7));
	CHECK(!pfc_pauses(0, 0));
	CHECK(pfc_resumes(100000 - PFC_RESUME_BYTES, 800000));
	CHECK(!pfc_resumes(100001 - PFC_RESUME_BYTES, 800000));
	/* Nothing held resumes, however full the buffer is. */
	CHECK(pfc_resumes(0, 0));
	CHECK(!pfc_resumes(1, 0));
	CHECK(!pfc_pauses(U32_MAX, ~0ULL));
}

/* Nobody is to wait and to go on at once, or it would be told so for each packet. */
TEST(never_both)
{
	u64 free_bytes;
	u32 held;

	for (held = 0; held < 20000; held += 7)
		for (free_bytes = 0; free_bytes < 200000; free_bytes += 997)
			CHECK(!pfc_pauses(held, free_bytes) ||
			      !pfc_resumes(held, free_bytes));
}

TEST(times)
{
	/* 512 bits at 100 Gbit/s are 5.12 ns. */
	CHECK_EQ(pfc_hold_ns(1000, 100000000000ULL), 5120U);
	CHECK_EQ(pfc_hold_ns(PFC_QUANTA_MAX, 10000000000ULL), 3355392U);
	CHECK_EQ(pfc_quanta(5120, 100000000000ULL), 1001U);
	CHECK_EQ(pfc_quanta(0, 1000), 1U);
	CHECK_EQ(pfc_quanta(NSEC_PER_SEC, 10000000000000ULL), (u16)PFC_QUANTA_MAX);
}

/* A time that is said holds at least as long. */
TEST(time_is_rounded_up)
{
	u64 rate, hold_ns;

	for (rate = 1000000000; rate <= 400000000000ULL; rate *= 5)
		for (hold_ns = 1; hold_ns < 80000; hold_ns += 333)
			CHECK_GE(pfc_hold_ns(pfc_quanta(hold_ns, rate), rate),
				 hold_ns);
}

TEST(frames)
{
	static const u8 want[PFC_BYTES] = {
		0x01, 0x01, 0, 0x20, [14] = 0x12, 0x34,
	};
	u8 data[PFC_BYTES];
	u8 class;

	pfc_write(5, 0x1234, data);
	CHECK(!memcmp(data, want, sizeof(want)));
	for (class = 0; class < PFC_CLASSES; class++)
		CHECK_EQ(pfc_read(class, data), class == 5 ? 0x1234 : -1);
	pfc_write(7, 0, data);
	CHECK_EQ(pfc_read(7, data), 0);
	/* A PAUSE of all traffic (opcode 1) is none of a class. */
	data[0] = 0;
	CHECK_EQ(pfc_read(7, data), -1);
}

UNIT_MAIN
