package lunar.raid.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.filter.DelayFilter;
import lunar.raid.RaidMember;
import lunar.raid.RaidOptions;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import lunar.testkit.BlockDeviceContract;
import lunar.testkit.OneThreadDevice;
import org.junit.jupiter.api.Nested;

/** A volume does what every device does, whole and degraded, whichever level. */
class VolumeContractTest {
    private static final int BLOCK_BYTES = 512;
    private static final int CHUNK_BLOCKS = 16;

    abstract static class Contract extends BlockDeviceContract {
        private final Level level;
        private final int members;
        private final Set<Integer> lost;

        Contract(Level level, int members, Integer... lost) {
            this.level = level;
            this.members = members;
            this.lost = Set.of(lost);
        }

        BlockDevice member(long blocks) throws Exception {
            return MemoryDevice.create(blocks * BLOCK_BYTES, BLOCK_BYTES);
        }

        @Override
        protected BlockDevice create(long blockCount) throws Exception {
            return over(blockCount, member -> member);
        }

        @Override
        protected Optional<Stacked> createOverOneThread(long blockCount) throws Exception {
            var below = new ArrayList<OneThreadDevice>();
            return Optional.of(new Stacked(over(blockCount, member -> {
                below.add(new OneThreadDevice(member));
                return below.getLast();
            }), below));
        }

        private BlockDevice over(long blockCount, UnaryOperator<BlockDevice> members)
                throws Exception {
            long perMember = CHUNK_BLOCKS;
            while (Layout.of(shape(perMember)).volumeBlocks() < blockCount) {
                perMember += CHUNK_BLOCKS;
            }
            var devices = new ArrayList<BlockDevice>();
            for (int slot = 0; slot < this.members; slot++) {
                devices.add(members.apply(member(perMember)));
            }
            VolumeEngine volume = VolumeEngine.of(shape(perMember),
                    devices.stream().map(device -> RaidMember.of(device, 0)).toList(),
                    RaidOptions.of(Identity.of("iRAID", UUID.randomUUID())));
            for (int slot : lost) {
                volume.fail(slot, new DeviceGoneException("as the test wants"));
            }
            return volume;
        }

        private Shape shape(long perMember) {
            return level == Level.LINEAR
                    ? new Shape(level, BLOCK_BYTES, CHUNK_BLOCKS,
                            List.of(perMember, perMember + CHUNK_BLOCKS / 2, 3 * perMember)
                                    .subList(0, members))
                    : Shape.of(level, BLOCK_BYTES, CHUNK_BLOCKS, members, perMember);
        }
    }

    @Nested
    class Linear extends Contract {
        Linear() { super(Level.LINEAR, 3); }

        @Override
        BlockDevice member(long blocks) throws Exception { return super.member(4 * blocks); }
    }

    @Nested
    class Raid0 extends Contract {
        Raid0() { super(Level.RAID0, 4); }
    }

    @Nested
    class Raid1 extends Contract {
        Raid1() { super(Level.RAID1, 3); }
    }

    @Nested
    class Raid1Degraded extends Contract {
        Raid1Degraded() { super(Level.RAID1, 2, 0); }
    }

    @Nested
    class Raid5 extends Contract {
        Raid5() { super(Level.RAID5, 4); }
    }

    @Nested
    class Raid5Degraded extends Contract {
        Raid5Degraded() { super(Level.RAID5, 4, 1); }
    }

    @Nested
    class Raid6 extends Contract {
        Raid6() { super(Level.RAID6, 5); }
    }

    @Nested
    class Raid6DegradedOnce extends Contract {
        Raid6DegradedOnce() { super(Level.RAID6, 5, 3); }
    }

    @Nested
    class Raid6DegradedTwice extends Contract {
        Raid6DegradedTwice() { super(Level.RAID6, 5, 0, 2); }
    }

    @Nested
    class Raid10 extends Contract {
        Raid10() { super(Level.RAID10, 5); }
    }

    @Nested
    class Raid10Degraded extends Contract {
        Raid10Degraded() { super(Level.RAID10, 4, 1, 2); }
    }

    /** Members that complete on another thread, after a while. */
    @Nested
    class Raid5OverSlowMembers extends Contract {
        Raid5OverSlowMembers() { super(Level.RAID5, 4); }

        @Override
        BlockDevice member(long blocks) throws Exception {
            return new DelayFilter(super.member(blocks), Duration.ZERO, Duration.ofNanos(50_000),
                    1);
        }
    }

    @Nested
    class Raid6DegradedOverSlowMembers extends Contract {
        Raid6DegradedOverSlowMembers() { super(Level.RAID6, 5, 1); }

        @Override
        BlockDevice member(long blocks) throws Exception {
            return new DelayFilter(super.member(blocks), Duration.ZERO, Duration.ofNanos(50_000),
                    1);
        }
    }
}
