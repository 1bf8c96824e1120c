package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.BlockDevice;
import lunar.iscsi.pdu.DataIn;
import lunar.scsi.Cdb;
import lunar.scsi.ParameterData;
import lunar.scsi.Status;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Naa;

/**
 * Fixture for copies: a server whose LUN 0 receives copy commands, an initiator that sends them, and more LUNs as
 * sources and destinations.
 */
final class CopyFixture implements AutoCloseable {
    /** Time that a cancelled copy has to end its piece before the piece is fenced. */
    private static final long PATIENCE_NANOS = 5_000_000_000L;
    private static final int MOST_TRIES = 10;

    final List<BlockDevice> devices;
    final TargetServer server;
    final RawInitiator initiator;

    CopyFixture(BlockDevice... devices) throws IOException {
        this.devices = List.of(devices);
        TargetSpec spec = TargetSpec.of(RawInitiator.TARGET);
        for (int i = 0; i < devices.length; i++) {
            spec = spec.withLun(i, devices[i]);
        }
        server = TargetFixture.builder().portal("127.0.0.1", 0).loops(2).target(spec).start();
        initiator = RawInitiator.ready(server, 1, "iSCSIProtocolLevel=2");
    }

    /** A test of a copy that is cancelled, and waited for. */
    @FunctionalInterface
    interface Cancelling {
        void run() throws Exception;
    }

    /** Runs a test, and again if it fails after a cancelled copy may have been fenced, as on a loaded machine. */
    static void inTime(Cancelling test) throws Exception {
        for (int tries = 1;; tries++) {
            long begun = System.nanoTime();
            try {
                test.run();
                return;
            } catch (AssertionError e) {
                if (tries == MOST_TRIES || System.nanoTime() - begun < PATIENCE_NANOS) {
                    throw e;
                }
            }
        }
    }

    /** A command with data-out, up to its response. */
    RawInitiator.Received out(Cdb cdb, byte[] data) throws IOException {
        send(cdb, data);
        return initiator.receive();
    }

    /** A command with data-out; returns its task tag. */
    int send(Cdb cdb, byte[] data) throws IOException {
        return initiator.write(initiator.newTag(), initiator.useCmdSn(), cdb.bytes(), data,
                data.length, true);
    }

    /** EXTENDED COPY (LID1) without a list identifier. */
    RawInitiator.Received copy(List<CscdDescriptor> cscds, BlockCopySegment... segments)
            throws IOException {
        return copy(0, CopyParameterList.NO_IDENTIFIER, cscds, segments);
    }

    RawInitiator.Received copy(int identifier, int usage, List<CscdDescriptor> cscds,
            BlockCopySegment... segments) throws IOException {
        byte[] list = list(identifier, usage, cscds, segments).bytes();
        return out(new ExtendedCopy(false, list.length), list);
    }

    static ParameterData list(int identifier, int usage, List<CscdDescriptor> cscds,
            BlockCopySegment... segments) {
        return new CopyParameterList(false, identifier, usage, 0, false, false, false, cscds,
                List.of(segments));
    }

    /** Data-in of a command that ends with GOOD. */
    MemorySegment in(Cdb cdb) throws IOException {
        RawInitiator.Received answer = initiator.command(cdb.bytes(), 4096);
        assertThat(answer.opcode()).as(cdb.toString()).isEqualTo(DataIn.OPCODE);
        return MemorySegment.ofArray(answer.data());
    }

    CscdDescriptor cscd(int lun) {
        BlockDevice device = devices.get(lun);
        return CscdDescriptor.disk(Designator.ofUnit(Naa.locallyAssigned(device.identity().uuid())),
                device.blockSize());
    }

    /** Fills a device with bytes that are different everywhere, and returns them. */
    byte[] fill(int lun, long seed) throws IOException {
        byte[] content = new byte[(int) devices.get(lun).sizeBytes()];
        new Random(seed).nextBytes(content);
        int piece = Math.min(content.length, 1 << 20);
        for (int at = 0; at < content.length; at += piece) {
            write(lun, at, Arrays.copyOfRange(content, at, at + piece));
        }
        return content;
    }

    void write(int lun, long at, byte[] content) throws IOException {
        BlockDevice device = devices.get(lun);
        device.write(at / device.blockSize(), MemorySegment.ofArray(content));
    }

    /** Returns the content of a device, bypassing the target. */
    byte[] content(int lun, long at, int length) throws IOException {
        BlockDevice device = devices.get(lun);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(length);
            device.read(at / device.blockSize(), buffer);
            return buffer.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    static void assertGood(RawInitiator.Received answer) {
        assertThat(answer.status()).isEqualTo(Status.GOOD);
    }

    /** Asserts CHECK CONDITION with key, code and qualifier, as in 0x0a0804. */
    static void assertSense(RawInitiator.Received answer, int sense) {
        assertThat(answer.status()).isEqualTo(Status.CHECK_CONDITION);
        assertThat(answer.sense()).as("sense %06x", answer.sense()).isEqualTo(sense);
    }

    @Override
    public void close() throws IOException {
        for (BlockDevice device : devices) {
            if (device instanceof HeldDevice held) {
                held.pass(1000); // nothing waits for a test that has failed
            }
        }
        initiator.close();
        server.close();
        for (BlockDevice device : devices) {
            device.close();
        }
    }
}
