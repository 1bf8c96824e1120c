package lunar.raid.simulation;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import lunar.raid.layout.Code;
import lunar.raid.layout.Galois;
import lunar.raid.layout.Layout;
import lunar.raid.layout.ReshapeMap;
import lunar.raid.simulation.EventCounts.Event;

/**
 * Looks at what is on the members, without the volume: each redundant unit must be what its stripe's data make of it.
 * It computes byte by byte, so that it has nothing in common with what it checks.
 */
final class MediaCheck {
    private final SimWorld world;
    private Layout layout;
    /** Whether blocks that cannot be read are left out. */
    private boolean skipsUnreadable;
    private final byte[] sum = new byte[SimMember.BLOCK_BYTES];

    MediaCheck(SimWorld world) {
        this.world = world;
        layout = world.layout;
    }

    /** All stripes, while nothing is under way and all members are whole. */
    void requireTrueRedundancy(String when) {
        requireTrueRedundancy(world.layout, 0, world.layout.stripes(), when);
    }

    /** All stripes, as far as they can be read, after a start. */
    void requireTrueRedundancyOfTheReadable(String when) {
        skipsUnreadable = true;
        requireTrueRedundancy(when);
        skipsUnreadable = false;
    }

    /** Checks a volume between two layouts. */
    void requireTrueRedundancy(ReshapeMap map, long rows, String when) {
        requireTrueRedundancy(map.after(), 0, map.stripes(rows), when);
        Layout before = map.before();
        requireTrueRedundancy(before, map.blocks(rows) / before.stripeBlocks(),
                before.stripes(), when);
    }

    private void requireTrueRedundancy(Layout of, long from, long end, String when) {
        layout = of;
        for (long stripe = from; stripe < end; stripe++) {
            world.tally.count(Event.STRIPE_CHECKED);
            for (int unit = layout.dataUnits(); unit < layout.units(); unit++) {
                for (int block = 0; block < SimWorld.CHUNK_BLOCKS; block++) {
                    if (skipsUnreadable && isUnreadable(stripe, block)) {
                        continue;
                    }
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

    /** All checksums, when everything has one, and all of that has been flushed. */
    void requireTrueSums(String when) {
        for (int slot = 0; slot < world.members.size(); slot++) {
            for (long stripe = 0; stripe < layout.stripes(); stripe++) {
                int unit = layout.unit(stripe, slot);
                for (int i = 0; unit >= 0 && i < SimWorld.CHUNK_BLOCKS; i++) {
                    int block = (int) layout.memberBlock(stripe, unit) + i;
                    var crc = new CRC32C();
                    crc.update(world.members.get(slot).block(world.dataOffset() + block));
                    int is = sum(slot, block);
                    if (is != (int) crc.getValue()) {
                        throw world.failure(("%s: the checksum of block %d of slot %d is %08x, and"
                                + " should be %08x").formatted(when, block, slot, is,
                                        (int) crc.getValue()));
                    }
                }
            }
        }
    }

    /** As the format has it. */
    private int sum(int slot, int block) {
        int at = 64 + block % 1008 * 4;
        byte[] page = world.members.get(slot).block(world.sumsAt() + block / 1008 * 8 + at / 512);
        return ByteBuffer.wrap(page).getInt(at % 512);
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

    private boolean isUnreadable(long stripe, int block) {
        for (int unit = 0; unit < layout.units(); unit++) {
            if (world.members.get(layout.slot(stripe, unit)).bad().get(world.dataOffset()
                    + (int) layout.memberBlock(stripe, unit) + block)) {
                return true;
            }
        }
        return false;
    }

    private byte[] block(long stripe, int unit, int block) {
        return world.members.get(layout.slot(stripe, unit)).block(
                world.dataOffset() + (int) layout.memberBlock(stripe, unit) + block);
    }
}
