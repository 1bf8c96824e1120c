package lunar.raid.metadata.page;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import lunar.block.BlockRequest;
import lunar.block.DeviceGoneException;
import lunar.block.ForwardingDevice;
import lunar.block.Geometry;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.raid.metadata.page.PartialRead.Unreadable;
import lunar.testkit.SteppedDevice;
import org.junit.jupiter.api.Test;

class PartialReadTest {
    private static final int BLOCK = 512;
    private static final int FIRST = 16;
    private static final int BLOCKS = 256;

    /** Some blocks cannot be read; all others are full of ones. */
    private static final class Spoiled extends ForwardingDevice {
        private final BitSet bad = new BitSet();
        private final int physicalBytes;
        private boolean isGone;
        private int reads;

        Spoiled(int physicalBytes) {
            super(new SteppedDevice(FIRST + BLOCKS + 16));
            this.physicalBytes = physicalBytes;
            ((SteppedDevice) below()).content().fill((byte) 1);
        }

        @Override
        public Geometry geometry() {
            return new Geometry(BLOCK, below().blockCount(), physicalBytes);
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            reads++;
            if (isGone) {
                throw new DeviceGoneException(request + ": gone");
            }
            int next = bad.nextSetBit((int) request.lba());
            if (next >= 0 && next < request.lba() + request.blockCount()) {
                throw new MediumException(request + ": bad");
            }
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { throw new AssertionError(request); }
    }

    private final MemorySegment buffer = MemorySegment.ofArray(new byte[BLOCKS * BLOCK])
            .fill((byte) 7);

    private void requireRead(Spoiled device, Unreadable... expected) throws StorageException {
        assertThat(PartialRead.read(device, FIRST * BLOCK, buffer)).containsExactly(expected);
        for (int block = 0; block < BLOCKS; block++) {
            int at = block;
            boolean isLost = Arrays.stream(expected)
                    .anyMatch(one -> one.from() <= at && at < one.from() + one.blocks());
            for (int i = 0; i < BLOCK; i++) {
                assertThat(buffer.get(JAVA_BYTE, (long) block * BLOCK + i)).as("block %d", block)
                        .isEqualTo((byte) (isLost ? 0 : 1));
            }
        }
    }

    @Test
    void shouldReadWhatIsWholeAtOnce() throws StorageException {
        var device = new Spoiled(BLOCK);
        requireRead(device);
        assertThat(device.reads).isEqualTo(BLOCKS / device.limits().maxTransferBlocks());
    }

    @Test
    void shouldFindSingleBlocksAndRuns() throws StorageException {
        var device = new Spoiled(BLOCK);
        device.bad.set(FIRST);
        device.bad.set(FIRST + 63, FIRST + 66);
        device.bad.set(FIRST + BLOCKS - 1);
        requireRead(device, new Unreadable(0, 1), new Unreadable(63, 3),
                new Unreadable(BLOCKS - 1, 1));
    }

    /** Where one block of a physical one cannot be read, none can, nor be written alone. */
    @Test
    void shouldTakePhysicalBlocksForWhatTheyAre() throws StorageException {
        var device = new Spoiled(4096);
        device.bad.set(FIRST + 21);
        requireRead(device, new Unreadable(16, 8));
    }

    @Test
    void shouldNotTryForEver() throws StorageException {
        var device = new Spoiled(BLOCK);
        device.bad.set(FIRST, FIRST + BLOCKS);
        requireRead(device, new Unreadable(0, BLOCKS));
        assertThat(device.reads).isLessThan(2 * PartialRead.MAX_FAILURES);
    }

    @Test
    void shouldLeaveOtherFailuresToTheCaller() {
        var device = new Spoiled(BLOCK);
        device.isGone = true;
        assertThatThrownBy(() -> PartialRead.read(device, FIRST * BLOCK, buffer))
                .isInstanceOf(DeviceGoneException.class);
    }
}
