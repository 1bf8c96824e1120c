package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.LunDevice;
import lunar.initiator.SenseException;
import lunar.initiator.Session;
import lunar.initiator.scsi.Copies;
import lunar.initiator.scsi.Copies.Segment;
import lunar.initiator.scsi.ScsiUnit;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.SenseKey;
import lunar.scsi.block.SanitizeOverwrite;
import lunar.scsi.copy.BlockRange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests copies between units of Lunar's target, without data on the network, and erasures. */
class ScsiCopiesTest {
    private static final int MIB = 1 << 20;
    private static final int BLOCK = 512;
    private static final long BLOCKS = 64L * MIB / BLOCK;

    private ServedTarget target;
    private Initiator initiator;
    private LunDevice sourceDisk;
    private LunDevice destinationDisk;
    private ScsiUnit source;
    private ScsiUnit destination;

    @BeforeEach
    void open() throws Exception {
        target = ServedTarget.of("ram:64MiB", "ram:64MiB");
        initiator = Initiator.create("iqn.2026-11.org.lunar:copies");
        Session session = initiator.login(target.url(0));
        sourceDisk = session.open(Lun.of(0));
        destinationDisk = session.open(Lun.of(1));
        source = ScsiUnit.of(sourceDisk);
        destination = ScsiUnit.of(destinationDisk);
    }

    @AfterEach
    void close() throws Exception {
        initiator.close();
        target.close();
    }

    private void fill() throws StorageException {
        var random = new Random(4);
        for (int at = 0; at < 64; at++) {
            byte[] bytes = new byte[MIB];
            random.nextBytes(bytes);
            sourceDisk.write((long) at * MIB / BLOCK, MemorySegment.ofArray(bytes));
        }
    }

    /** Compares what the store has, past the copy's own way. */
    private void requireEqual() throws StorageException {
        var one = MemorySegment.ofArray(new byte[MIB]);
        var other = MemorySegment.ofArray(new byte[MIB]);
        for (int at = 0; at < 64; at++) {
            target.device(0).read((long) at * MIB / BLOCK, one);
            target.device(1).read((long) at * MIB / BLOCK, other);
            assertThat(one.mismatch(other)).as("MiB " + at).isEqualTo(-1);
        }
    }

    @Test
    void shouldCopyByExtendedCopy() throws Exception {
        fill();
        var progress = new ArrayList<Long>();
        long copied = source.copies().extendedCopy(destination,
                List.of(new Segment(0, 0, BLOCKS / 2),
                        new Segment(BLOCKS / 2, BLOCKS / 2, BLOCKS / 2)),
                progress::add);
        assertThat(copied).isEqualTo(BLOCKS);
        assertThat(progress).hasSizeGreaterThan(1).isSorted().endsWith(BLOCKS);
        requireEqual();
    }

    @Test
    void shouldCopyByTokens() throws Exception {
        fill();
        var progress = new ArrayList<Long>();
        long copied = source.copies().offload(destination, new Segment(0, 0, BLOCKS),
                progress::add);
        assertThat(copied).isEqualTo(BLOCKS);
        assertThat(progress).isSorted().endsWith(BLOCKS);
        requireEqual();
    }

    @Test
    void shouldCopyWithinAUnit() throws Exception {
        fill();
        source.copies().extendedCopy(source, List.of(new Segment(0, 1000, 100)), _ -> {});
        var one = MemorySegment.ofArray(new byte[100 * BLOCK]);
        var other = MemorySegment.ofArray(new byte[100 * BLOCK]);
        sourceDisk.read(0, one);
        sourceDisk.read(1000, other);
        assertThat(one.mismatch(other)).isEqualTo(-1);
    }

    @Test
    void shouldReportWhyACopyFails() {
        assertThatThrownBy(() -> source.copies().extendedCopy(destination,
                List.of(new Segment(BLOCKS - 1, 0, 2)), _ -> {}))
                .isInstanceOfSatisfying(StorageException.class,
                        e -> assertThat(SenseException.of(e)).isPresent());
        assertThatThrownBy(() -> source.copies()
                .populateToken(List.of(new BlockRange(BLOCKS, 1)), 0))
                .isInstanceOfSatisfying(StorageException.class,
                        e -> assertThat(SenseException.of(e).orElseThrow().key())
                                .isEqualTo(SenseKey.ILLEGAL_REQUEST));
    }

    @Test
    void shouldUseAPartOfATokenAndLoseItWhenTheSourceIsWritten() throws Exception {
        fill();
        Copies.Token token = source.copies().populateToken(
                List.of(new BlockRange(100, 10), new BlockRange(500, 10)), 0);
        assertThat(token.blockCount()).isEqualTo(20);
        assertThat(destination.copies().writeUsingToken(token, 15,
                List.of(new BlockRange(0, 5)), false, _ -> {})).isEqualTo(5);
        var one = MemorySegment.ofArray(new byte[5 * BLOCK]);
        var other = MemorySegment.ofArray(new byte[5 * BLOCK]);
        sourceDisk.read(505, one);
        destinationDisk.read(0, other);
        assertThat(one.mismatch(other)).isEqualTo(-1);

        sourceDisk.write(100, MemorySegment.ofArray(new byte[BLOCK]));
        assertThatThrownBy(() -> destination.copies().writeUsingToken(token, 0,
                List.of(new BlockRange(0, 5)), false, _ -> {}))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void shouldWriteZeroesByTheTokenThatEverybodyKnows() throws Exception {
        fill();
        source.copies().writeUsingToken(Copies.Token.zeroes(), 0,
                List.of(new BlockRange(10, 3)), false, _ -> {});
        byte[] read = new byte[4 * BLOCK];
        sourceDisk.read(10, MemorySegment.ofArray(read));
        assertThat(Arrays.copyOf(read, 3 * BLOCK)).containsOnly(0);
        assertThat(MemorySegment.ofArray(read).asSlice(3 * BLOCK)
                .mismatch(MemorySegment.ofArray(new byte[BLOCK]))).isNotEqualTo(-1);
    }

    @Test
    void shouldSanitizeAndFormatAndReportHowFarItIs() throws Exception {
        fill();
        var progress = new ArrayList<Double>();
        source.erasures().overwrite(new SanitizeOverwrite(false, 4, Bytes.ofHex("a55a")), false,
                progress::add);
        assertThat(progress).isSorted().startsWith(0.0).endsWith(1.0);
        var read = MemorySegment.ofArray(new byte[2]);
        byte[] block = new byte[BLOCK];
        sourceDisk.read(BLOCKS - 1, MemorySegment.ofArray(block));
        MemorySegment.copy(MemorySegment.ofArray(block), BLOCK - 2, read, 0, 2);
        assertThat(Bytes.of(read)).isEqualTo(Bytes.ofHex("a55a"));

        source.erasures().blockErase(true, _ -> {});
        sourceDisk.read(BLOCKS - 1, MemorySegment.ofArray(block));
        assertThat(block).containsOnly(0);
        sourceDisk.write(5, MemorySegment.ofArray(new byte[BLOCK]).fill((byte) 1));
        source.erasures().format(_ -> {});
        sourceDisk.read(5, MemorySegment.ofArray(block));
        assertThat(block).containsOnly(0);
        assertThat(source.erasures().progress()).isEmpty();
        assertThatThrownBy(() -> source.erasures().cryptographicErase(false, _ -> {}))
                .isInstanceOf(InvalidRequestException.class);
    }
}
