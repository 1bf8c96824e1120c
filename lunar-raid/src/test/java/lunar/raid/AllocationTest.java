package lunar.raid;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.Stream;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.raid.layout.Level;
import lunar.raid.layout.Shape;
import lunar.store.MemoryDevice;
import org.junit.jupiter.api.Test;

/** What goes straight to a member leaves no garbage. */
class AllocationTest {
    private static final int READS = 20_000;

    @Test
    void shouldAllocateNothingForReadsOfAWholeVolume() throws Exception {
        for (Level level : List.of(Level.LINEAR, Level.RAID0, Level.RAID1, Level.RAID5, Level.RAID6,
                Level.RAID10)) {
            List<BlockDevice> members = Stream
                    .generate(() -> (BlockDevice) MemoryDevice.create(1 << 20, 512)).limit(4)
                    .toList();
            try (RaidVolume volume = Raid.volume(Shape.of(level, 512, 128, 4, 2048), members)) {
                long warm = allocated(volume, READS);
                long steady = allocated(volume, READS);
                assertThat(steady).as("%s, %d at first", level, warm).isLessThan(READS / 10);
            }
        }
    }

    private static long allocated(RaidVolume volume, int reads) {
        MemorySegment buffer = Arena.ofAuto().allocate(4096);
        var failures = new int[1];
        BlockRequest request = new BlockRequest().onCompletion((_, failure) -> {
            if (failure != null) {
                failures[0]++;
            }
        });
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < reads; i++) {
            volume.submit(request.asRead(i * 8L % (volume.blockCount() - 8) / 8 * 8, 8, buffer));
        }
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(failures[0]).isZero();
        return bytes;
    }
}
