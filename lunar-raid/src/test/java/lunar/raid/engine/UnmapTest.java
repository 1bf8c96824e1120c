package lunar.raid.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import lunar.block.BlockDevice;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.block.StorageException;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.Rebuild;
import lunar.raid.ScanOptions;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import lunar.testkit.GranularDevice;
import lunar.testkit.Seed;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A volume's blocks, parity and copies agree after an unmap, whatever its members make of one. */
class UnmapTest {
    private static final int CHUNK = 8;
    private static final int ROWS = 24;
    private static final int BLOCK = 512;
    /** No chunk is a whole granule. */
    private static final int GRANULE = 3 * CHUNK;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    private static BlockDevice memory() {
        return MemoryDevice.create(CHUNK * ROWS * (long) BLOCK, BLOCK);
    }

    private static BlockDevice granular() { return new GranularDevice(memory(), GRANULE); }

    private static VolumeEngine volume(Level level, IntFunction<BlockDevice> member) {
        return VolumeEngine.of(Shape.of(level, BLOCK, CHUNK, 4, CHUNK * ROWS),
                IntStream.range(0, 4).mapToObj(slot -> RaidMember.of(member.apply(slot), 0))
                        .toList(),
                RaidOptions.of(Identity.of("test", new UUID(1, 1))));
    }

    private void requireZeroesAndRedundancy(VolumeEngine volume, byte[] content, long lba,
            long blocks) throws StorageException {
        MemorySegment expected = MemorySegment.ofArray(content);
        expected.asSlice(lba * BLOCK, blocks * BLOCK).fill((byte) 0);
        MemorySegment after = MemorySegment.ofArray(new byte[content.length]);
        volume.read(0, after);
        assertThat(after.mismatch(expected)).as("seed %d", seed).isEqualTo(-1);
        if (volume.state().isWhole()) {
            assertThat(volume.scrub(false, ScanOptions.DEFAULT).mismatches()).as("seed %d", seed)
                    .isZero();
        }
    }

    private byte[] filled(VolumeEngine volume) throws StorageException {
        byte[] content = new byte[(int) volume.sizeBytes()];
        random.nextBytes(content);
        volume.write(0, MemorySegment.ofArray(content));
        return content;
    }

    @ParameterizedTest
    @EnumSource(Level.class)
    void shouldNotPromiseUnmapForMembersThatMayLeaveBlocksAsTheyAre(Level level) throws Exception {
        try (VolumeEngine volume = volume(level, slot -> slot == 2 ? granular() : memory())) {
            byte[] content = filled(volume);
            long blocks = volume.blockCount() - 10;
            if (volume.supports(Capability.UNMAP)) {
                volume.unmap(5, blocks);
            } else {
                volume.writeZeroes(5, blocks);
            }
            requireZeroesAndRedundancy(volume, content, 5, blocks);
            assertThat(volume.supports(Capability.UNMAP)).isFalse();
            assertThat(volume.limits().maxUnmapBlocks()).isZero();
        }
    }

    /** The capabilities of the volume hold when a slot gets such a member later. */
    @ParameterizedTest
    @EnumSource(value = Level.class, names = {"RAID1", "RAID5", "RAID6", "RAID10"})
    void shouldZeroByUnmapWhenAMemberIsReplacedByOneThatMayLeaveBlocks(Level level)
            throws Exception {
        try (VolumeEngine volume = volume(level, _ -> memory())) {
            assertThat(volume.capabilities()).contains(Capability.UNMAP, Capability.UNMAP_ZEROES);
            byte[] content = filled(volume);
            assertThat(volume.fail(1, new DeviceGoneException("as the test wants"))).isTrue();
            Rebuild rebuild = volume.replace(1, granular(), 0, ScanOptions.DEFAULT);
            assertThat(rebuild.failure()).isNull();
            volume.unmap(5, volume.blockCount() - 10);
            requireZeroesAndRedundancy(volume, content, 5, volume.blockCount() - 10);
        }
    }
}
