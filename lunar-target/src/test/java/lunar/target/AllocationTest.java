package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.scsi.Lun;
import lunar.store.MemoryDevice;
import lunar.testkit.CompilerPatience;
import org.junit.jupiter.api.Test;

/**
 * Tests that READ and WRITE allocate nothing in the steady state, by the bytes that the loop's thread has allocated.
 */
class AllocationTest {
    private static final int BLOCKS = 8;
    private static final int BYTES = 512 * BLOCKS;
    private static final int DEPTH = 32;
    private static final int WARM_UP = 60_000;
    private static final int COUNTED = 100_000;
    private static final String WRITE_10 = "2a 00 00000008 00 0008 00";
    /** A stray object, of the counting itself or of the JVM, does not count; one per command does, however small. */
    private static final double NOTHING = 0.5;

    /** Over the wire, where the JDK now and then makes an object of its own for a socket. */
    private static final int TRANSPORT = 2;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    // --- without a network: what the target itself makes ---

    @Test
    void shouldAllocateNothingForReads() throws Exception {
        assertThat(perCommand("08 000008 08 00", false, "")).as("6").isLessThan(NOTHING);
        assertThat(perCommand("28 00 00000008 00 0008 00", false, "")).as("10").isLessThan(NOTHING);
        assertThat(perCommand("a8 00 00000008 00000008 00 00", false, "")).as("12")
                .isLessThan(NOTHING);
        assertThat(perCommand("88 00 0000000000000008 00000008 00 00", false, "")).as("16")
                .isLessThan(NOTHING);
    }

    @Test
    void shouldAllocateNothingForReadsOfSeveralDataIn() throws Exception {
        assertThat(perCommand("28 00 00000008 00 0008 00", false,
                "MaxRecvDataSegmentLength=1024\0")).isLessThan(NOTHING);
    }

    @Test
    void shouldAllocateNothingForWritesOfImmediateData() throws Exception {
        assertThat(perCommand(WRITE_10, true, "")).as("10").isLessThan(NOTHING);
        assertThat(perCommand("aa 00 00000008 00000008 00 00", true, "")).as("12")
                .isLessThan(NOTHING);
        assertThat(perCommand("8a 00 0000000000000008 00000008 00 00", true, "")).as("16")
                .isLessThan(NOTHING);
    }

    @Test
    void shouldAllocateNothingForWritesOfUnsolicitedData() throws Exception {
        assertThat(perCommand(WRITE_10, true, "InitialR2T=No\0ImmediateData=No\0"))
                .isLessThan(NOTHING);
    }

    @Test
    void shouldAllocateNothingForWritesByR2t() throws Exception {
        assertThat(perCommand(WRITE_10, true, "ImmediateData=No\0")).isLessThan(NOTHING);
    }

    private double perCommand(String cdb, boolean write, String keys) throws Exception {
        try (var device = MemoryDevice.create(8 << 20, 512); var server = server(device)) {
            var host = new SteadyHost(server, RawInitiator.bytes(cdb.replace(" ", "")), write,
                    BLOCKS, keys);
            host.run(WARM_UP, DEPTH);
            double perCommand = Double.MAX_VALUE;
            var patience = new CompilerPatience();
            while (perCommand >= NOTHING && patience.lasts()) {
                long before = threads.getCurrentThreadAllocatedBytes();
                host.run(COUNTED, DEPTH);
                perCommand = (double) (threads.getCurrentThreadAllocatedBytes() - before)
                        / COUNTED;
            }
            host.end();
            assertThat(server.bufferBytesInUse()).isZero();
            return perCommand;
        }
    }

    private static TargetServer server(MemoryDevice device) throws IOException {
        return TargetServer.builder().portal("127.0.0.1", 0).loops(1)
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, device)).start();
    }

    // --- over TCP ---

    @Test
    void shouldAllocateNearlyNothingOverTcp() throws Exception {
        try (var device = MemoryDevice.create(8 << 20, 512);
                var server = server(device);
                var initiator = RawInitiator.ready(server, 1)) {
            for (boolean write : new boolean[]{false, true}) {
                run(initiator, write, WARM_UP);
                double perCommand = Double.MAX_VALUE;
                var patience = new CompilerPatience();
                while (perCommand >= TRANSPORT && patience.lasts()) {
                    long before = loopBytes();
                    run(initiator, write, COUNTED);
                    perCommand = (double) (loopBytes() - before) / COUNTED;
                }
                assertThat(perCommand).as(write ? "WRITE" : "READ").isLessThan(TRANSPORT);
            }
        }
    }

    private static void run(RawInitiator initiator, boolean write, int count) throws IOException {
        for (int done = 0; done < count; done += DEPTH) {
            var batch = new ByteArrayOutputStream();
            for (int i = 0; i < DEPTH; i++) {
                int lba = (done + i) % 1024 * BLOCKS;
                byte[] cdb = write
                        ? RawInitiator.writeCdb(lba, BLOCKS)
                        : RawInitiator.readCdb(lba, BLOCKS);
                batch.write(RawInitiator.encode(new ScsiCommand(false, true, !write, write,
                        TaskAttribute.SIMPLE, 0, Lun.ZERO, initiator.newTag(), BYTES,
                        initiator.useCmdSn(), initiator.expStatSn(), MemorySegment.ofArray(cdb), 0),
                        new byte[write ? BYTES : 0]));
            }
            initiator.sendBytes(batch.toByteArray());
            for (int i = 0; i < DEPTH; i++) {
                RawInitiator.Received answer = initiator.receive();
                if (write) {
                    assertThat(answer.status().code()).isZero();
                } else {
                    assertThat(answer.opcode()).isEqualTo(DataIn.OPCODE);
                    assertThat(answer.bhs().flags() & DataIn.HAS_STATUS).isNotZero();
                }
            }
        }
    }

    private long loopBytes() {
        long bytes = 0;
        for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith("lunar-target-")) {
                bytes += threads.getThreadAllocatedBytes(thread.getThreadId());
            }
        }
        assertThat(bytes).isPositive();
        return bytes;
    }
}
