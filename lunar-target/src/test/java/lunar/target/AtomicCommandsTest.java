package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests WRITE ATOMIC and ORWRITE concurrent with reads and writes of the same blocks. */
class AtomicCommandsTest {
    /** Half of the range on either side of where two pieces of memory meet. */
    private static final int LBA = 512 - 8;
    private static final int COUNT = 16;
    private static final int ROUNDS = 300;

    private static byte[] cdb16(int opcode, long lba, int blockCount) {
        return ByteBuffer.allocate(16).put((byte) opcode).put((byte) 0).putLong(lba)
                .putInt(blockCount).array(); // of WRITE ATOMIC the boundary is in the upper half
    }

    private static void send(RawInitiator to, byte[] cdb, byte[] data) throws Exception {
        to.write(to.newTag(), to.useCmdSn(), cdb, data, data.length, true);
        assertThat(to.receive().status()).isEqualTo(Status.GOOD);
    }

    @Test
    void shouldShowAtomicWriteToReadersWholeOrNotAtAll() throws Exception {
        try (var target = new TargetFixture();
                var reader = target.ready(1);
                var writer = target.ready(2);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var read = new AtomicBoolean();
            Future<?> writing = threads.submit(() -> {
                for (int i = 0; !read.get(); i++) {
                    send(writer, cdb16(0x9c, LBA, COUNT), blocks(COUNT, i));
                }
                return null;
            });
            var seen = new HashSet<Byte>();
            try {
                for (int i = 0; i < ROUNDS || seen.size() < 2 && !writing.isDone(); i++) {
                    byte[] data = reader.read(LBA, COUNT);
                    assertThat(data).isEqualTo(blocks(COUNT, data[0]));
                    seen.add(data[0]);
                }
            } finally {
                read.set(true);
            }
            writing.get();
            assertThat(seen).as("writes seen").hasSizeGreaterThan(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"buffered, 2048", "direct, 2048", "sync, 2048", "sendfile, 0"})
    void shouldWriteAtomicallyToAFileUpToReportedLength(String io, int most, @TempDir Path folder)
            throws Exception {
        try (var target = new TargetFixture(
                "file:" + folder.resolve("disk.img") + "?size=4MiB&io=" + io, unit -> unit);
                var initiator = target.ready(1)) {
            byte[] limits = initiator.command("1201b000ff00", 255).data();
            assertThat(ByteBuffer.wrap(limits).getInt(44)).isEqualTo(most);
            assertThat(ByteBuffer.wrap(limits).getInt(48)).as("alignment").isZero();
            assertThat(ByteBuffer.wrap(limits).getInt(52)).as("granularity").isZero();
            if (most == 0) {
                initiator.write(initiator.newTag(), initiator.useCmdSn(), cdb16(0x9c, 0, 1),
                        blocks(1, 1), 512, true);
                assertThat(initiator.receive().sense()).isEqualTo(0x05_20_00);
                return;
            }
            send(initiator, cdb16(0x9c, 3, 5), blocks(5, 7));
            assertThat(target.onDevice(2, 7))
                    .isEqualTo(concat(blocks(1, 0), blocks(5, 7), blocks(1, 0)));
        }
    }

    private static byte[] concat(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(p -> p.length).sum());
        Arrays.stream(parts).forEach(all::put);
        return all.array();
    }

    @ParameterizedTest
    @CsvSource({"4096, 1, 052400", "0, 0, 000000", "0, 1, 000000"})
    void shouldAcceptAtomicWriteWithoutBoundary(int boundary, int count, String sense)
            throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            byte[] data = blocks(count, 1);
            initiator.write(initiator.newTag(), initiator.useCmdSn(),
                    cdb16(0x9c, 0, boundary << 16 | count), data, data.length, true);
            assertThat(initiator.receive().sense()).isEqualTo(Integer.parseInt(sense, 16));
            assertThat(target.onDevice(0, 1))
                    .isEqualTo(blocks(1, sense.equals("000000") ? count : 0));
        }
    }

    @Test
    void shouldAcceptAtomicWriteUpToReportedLength() throws Exception {
        try (var target = new TargetFixture("ram:64MiB", unit -> unit);
                var initiator = target.ready(1)) {
            byte[] limits = initiator.command("1201b000ff00", 255).data();
            int most = ByteBuffer.wrap(limits).getInt(44);
            assertThat(most).isPositive().isLessThan(0xffff);
            initiator.write(initiator.newTag(), initiator.useCmdSn(), cdb16(0x9c, 0, most + 1),
                    new byte[0], (most + 1) * 512, true);
            assertThat(initiator.receive().sense()).isEqualTo(0x05_24_00);
        }
    }

    @Test
    void shouldLoseNoBitOfConcurrentOrWrites() throws Exception {
        try (var target = new TargetFixture();
                var even = target.ready(1);
                var odd = target.ready(2);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> first = threads.submit(ors(even, 0));
            Future<?> second = threads.submit(ors(odd, 1));
            first.get();
            second.get();
            assertThat(target.onDevice(LBA, COUNT)).isEqualTo(blocks(COUNT, 0xff));
        }
    }

    /** Sets one bit after another; of two that do so at once, each sees and keeps what the other has set. */
    private static Callable<Void> ors(RawInitiator initiator, int parity) {
        return () -> {
            for (int at = 0; at < 64; at++) {
                for (int bit = parity; bit < Byte.SIZE; bit += 2) {
                    byte[] data = new byte[COUNT * 512];
                    for (int i = at; i < data.length; i += 64) {
                        data[i] = (byte) (1 << bit);
                    }
                    send(initiator, cdb16(0x8b, LBA, COUNT), data);
                }
            }
            return null;
        };
    }

    @Test
    void shouldVerifyWhatItHasWritten() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            byte[] data = blocks(COUNT, 0x3c);
            byte[] cdb = cdb16(0x8e, LBA, COUNT);
            send(initiator, cdb, data);
            assertThat(target.onDevice(LBA, COUNT)).isEqualTo(data);
            cdb[1] = 2; // BYTCHK
            Arrays.fill(data, (byte) 0x4d);
            send(initiator, cdb, data);
            assertThat(target.onDevice(LBA, COUNT)).isEqualTo(data);
        }
        try (var target = new TargetFixture("fault=1,kind=corrupt,op=read:ram:1MiB", unit -> unit);
                var initiator = target.ready(1)) {
            byte[] cdb = cdb16(0x8e, 0, 1);
            cdb[1] = 2;
            byte[] data = blocks(1, 1);
            initiator.write(initiator.newTag(), initiator.useCmdSn(), cdb, data, 512, true);
            assertThat(initiator.receive().sense()).isEqualTo(0x0e_1d_00);
        }
    }

    @ParameterizedTest
    @CsvSource({"read, 11", "compare-and-write, 0c"})
    void shouldReportTheBlockOrFieldThatOrWriteRejects(String operation, String additional)
            throws Exception {
        try (var target = new TargetFixture("fault=0,op=" + operation + ",lba=700-700:ram:1MiB",
                unit -> unit); var initiator = target.ready(1)) {
            byte[] data = initiator.commandOut(cdb16(0x8b, 700, 1), blocks(1, 1)).data();
            assertThat(HexFormat.of().formatHex(data, 2, 16))
                    .isEqualTo("f00003000002bc0a00000000" + additional + "00");
        }
    }
}
