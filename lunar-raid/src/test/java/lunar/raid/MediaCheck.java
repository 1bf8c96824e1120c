package lunar.raid;

import lunar.raid.Tally.Event;
import lunar.raid.layout.Code;
import lunar.raid.layout.Galois;
import lunar.raid.layout.Layout;

/**
 * Looks at what is on the members, without the volume: each redundant unit must be what its stripe's data make of it.
 * It computes byte by byte, so that it has nothing in common with what it checks.
 */
final class MediaCheck {
    private final SimWorld world;
    private final Layout layout;
    private final byte[] sum = new byte[SimMember.BLOCK_BYTES];

    MediaCheck(SimWorld world) {
        this.world = world;
        layout = world.layout;
    }

    /** All stripes, while nothing is under way and all members are whole. */
    void requireTrueRedundancy(String when) {
        for (long stripe = 0; stripe < layout.stripes(); stripe++) {
            world.tally.count(Event.STRIPE_CHECKED);
            for (int unit = layout.dataUnits(); unit < layout.units(); unit++) {
                for (int block = 0; block < SimWorld.CHUNK_BLOCKS; block++) {
                    sumUp(stripe, unit, block);
                    byte[] is = block(stripe, unit, block);
                    for (int at = 0; at < sum.length; at++) {
                        if (sum[at] != is[at]) {
                            throw world.failure(("%s: block %d of unit %d of stripe %d has %02x"
                                    + " at byte %d, and should have %02x").formatted(when, block,
                                            unit, stripe, is[at], at, sum[at]));
                        }
                    }
                }
            }
        }
    }

    private void sumUp(long stripe, int unit, int block) {
        boolean isQ = layout.code() == Code.PQ && unit == layout.units() - 1;
        System.arraycopy(block(stripe, 0, block), 0, sum, 0, sum.length);
        for (int data = 1; data < layout.dataUnits(); data++) {
            byte[] content = block(stripe, data, block);
            int factor = isQ ? Galois.power(data) : 1;
            for (int at = 0; at < sum.length; at++) {
                sum[at] ^= (byte) Galois.times(content[at] & 0xff, factor);
            }
        }
    }

    private byte[] block(long stripe, int unit, int block) {
        return world.members.get(layout.slot(stripe, unit)).block(
                world.dataOffset() + (int) layout.memberBlock(stripe, unit) + block);
    }
}
