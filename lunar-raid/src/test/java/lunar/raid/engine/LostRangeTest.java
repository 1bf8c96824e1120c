package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import lunar.block.Identity;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.BadBlockList;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A read of a whole volume fails if and only if a block of its range has lost its content, wherever it begins and ends.
 */
class LostRangeTest {
    private static final int MEMBERS = 4;
    private static final int CHUNK = 8;
    private static final int ROWS = 2;
    private static final int BLOCK = 512;

    @ParameterizedTest
    @EnumSource(names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldFailTheReadsThatMeetALostBlockAndNoOthers(Level level) throws Exception {
        var shape = Shape.of(level, BLOCK, CHUNK, MEMBERS, CHUNK * ROWS);
        Layout layout = Layout.of(shape);
        for (long lost = 0; lost < layout.volumeBlocks(); lost++) {
            try (VolumeEngine volume = volume(shape, losing(layout, lost))) {
                for (long from = 0; from < layout.volumeBlocks(); from++) {
                    for (long end = from + 1; end <= layout.volumeBlocks(); end++) {
                        assertThat(isRefused(volume, from, (int) (end - from)))
                                .as("%s, block %d is lost, read of %d to %d", level, lost, from,
                                        end)
                                .isEqualTo(from <= lost && lost < end);
                    }
                }
            }
        }
    }

    private static VolumeEngine volume(Shape shape, BadBlockList lost) {
        List<RaidMember> members = new ArrayList<>();
        for (int slot = 0; slot < MEMBERS; slot++) {
            members.add(RaidMember.of(MemoryDevice.create(CHUNK * ROWS * BLOCK, BLOCK), 0));
        }
        return VolumeEngine.of(shape, members,
                RaidOptions.of(Identity.of("lost", new UUID(1, 1))).withBadBlocks(lost));
    }

    private static boolean isRefused(VolumeEngine volume, long from, int blocks)
            throws StorageException {
        try {
            volume.read(from, MemorySegment.ofArray(new byte[blocks * BLOCK]));
            return false;
        } catch (MediumException e) {
            return true;
        }
    }

    /** A block of the volume has lost its content, on the member that a loss of it is noted for. */
    private static BadBlockList losing(Layout layout, long block) {
        long stripe = block / layout.stripeBlocks();
        int unit = (int) (block % layout.stripeBlocks() / layout.chunkBlocks());
        int lostSlot = layout.slot(stripe, unit);
        long lostBlock = layout.memberBlock(stripe, unit) + block % layout.chunkBlocks();
        return new BadBlockList() {
            @Override
            public boolean overlaps(int slot, long memberBlock, long blocks) {
                return slot == lostSlot && memberBlock <= lostBlock
                        && lostBlock < memberBlock + blocks;
            }

            @Override
            public void written(int slot, long memberBlock, int blocks, Runnable done) {
                done.run();
            }
        };
    }
}
