package lunar.target;

import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.block.spi.RequestCompletion;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.scsi.target.StateStore;
import lunar.scsi.target.block.DiskSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests disabling the write cache: what was acknowledged while it was enabled must become stable (SBC-4 section 4.15).
 */
@Timeout(600)
class WriteCacheTest {
    private static final String PAGE = "00000000 0812 %02x" + "00".repeat(17);
    private static final int OFF = 0;
    private static final int ON = 4;
    private static final int WRITE_ERROR = 0x03_0c_00;

    @TempDir
    Path directory;

    /** Memory whose flushes fail as often as wanted. */
    private static final class BadFlushes extends ForwardingDevice {
        private volatile int left;

        BadFlushes() throws StorageException { super(Devices.open("ram:1MiB")); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            if (request.operation() == BlockRequest.Operation.FLUSH && left > 0) {
                left--;
                throw new MediumException("not written");
            }
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) {
            RequestCompletion.executeAndComplete(request, this);
        }

        @Override
        public Set<Capability> capabilities() {
            Set<Capability> all = EnumSet.copyOf(below().capabilities());
            all.remove(Capability.FUA);
            return all;
        }
    }

    @Test
    void shouldFlushAtAResetThatSwitchesTheCacheOff() throws Exception {
        try (var target = new TargetFixture(StateStore.inDirectory(directory));
                var initiator = target.ready(1)) {
            assertThat(select(initiator, 1, OFF)).isZero();
            assertThat(select(initiator, 0, ON)).isZero();
            initiator.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1));
            target.device.requests();

            target.device.shut(1, request -> request.operation() == BlockRequest.Operation.FLUSH);
            int reset = initiator.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, 0);
            target.device.awaitArrivals();
            initiator.assertSilent(); // the write is not stable yet, and WCE is 0
            target.device.open();
            assertThat(initiator.managed(reset)).isZero();
            assertThat(target.device.requests()).containsExactly("FLUSH");

            initiator.takeAttentions();
            assertThat(initiator.managed(
                    initiator.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, 0))).isZero();
            assertThat(target.device.requests()).as("it was off before").isEmpty();
        }
    }

    @Test
    void shouldReportAFlushThatFailsAtAReset() throws Exception {
        var device = new BadFlushes();
        try (var server = serve(device); var initiator = RawInitiator.ready(server, 1)) {
            assertThat(select(initiator, 1, OFF)).isZero();
            assertThat(select(initiator, 0, ON)).isZero();
            initiator.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1));
            device.left = 1;
            assertThat(initiator.managed(
                    initiator.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, 0))).isZero();
            initiator.takeAttentions();
            assertThat(initiator.commandOut(RawInitiator.writeCdb(1, 1), blocks(1, 1)).sense())
                    .isEqualTo(WRITE_ERROR);
            assertThat(initiator.commandOut(RawInitiator.writeCdb(1, 1), blocks(1, 1)).status())
                    .isEqualTo(Status.GOOD);
        }
    }

    @Test
    void shouldFlushAgainAfterAFlushThatFailed() throws Exception {
        var device = new BadFlushes();
        try (var server = serve(device); var initiator = RawInitiator.ready(server, 1)) {
            initiator.commandOut(RawInitiator.writeCdb(0, 1), blocks(1, 1));
            device.left = 2;
            assertThat(select(initiator, 0, OFF)).isEqualTo(WRITE_ERROR);
            assertThat(select(initiator, 0, OFF)).as("off by now, and yet not stable")
                    .isEqualTo(WRITE_ERROR);
            assertThat(select(initiator, 0, OFF)).isZero();
        }
    }

    /** WRITE(10), COMPARE AND WRITE: of one block, which may well be good. */
    @ParameterizedTest
    @CsvSource({"2a00 00000005 00 0001 00, 512", "8900 0000000000000005 000000 01 00 00, 1024"})
    void shouldNameNoBlockWhereTheFlushAfterAWriteFails(String cdb, int bytes) throws Exception {
        var device = new BadFlushes();
        try (var server = serve(device); var initiator = RawInitiator.ready(server, 1)) {
            assertThat(select(initiator, 0, OFF)).isZero();
            device.left = 1;
            RawInitiator.Received answer = initiator.commandOut(cdb, new byte[bytes]);
            assertThat(answer.sense()).isEqualTo(WRITE_ERROR);
            assertThat(Sense.decode(MemorySegment.ofArray(answer.data()).asSlice(2)).information())
                    .isEmpty();
            assertThat(initiator.commandOut(cdb, new byte[bytes]).status()).isEqualTo(Status.GOOD);
        }
    }

    /** WRITE(10), COMPARE AND WRITE, WRITE ATOMIC(16), WRITE SAME(10) with zeroes and without, UNMAP. */
    @ParameterizedTest
    @CsvSource({"2a00 00000000 00 0001 00, 512, 0", "2a00 00000000 00 0001 00, 512, 1",
            "8900 0000000000000000 000000 01 00 00, 1024, 0",
            "9c00 0000000000000000 0000 0001 00 00, 512, 1",
            "4100 00000000 00 0004 00, 512, 0", "4100 00000000 00 0004 00, 512, 1",
            "4200 00000000 00 0018 00, 24, -1"})
    void shouldFlushWhatIsInProgressWhenTheCacheIsSwitchedOff(String cdb, int bytes, int fill)
            throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1);
                var other = target.ready(2)) {
            byte[] data = new byte[bytes];
            if (fill < 0) { // one range of 4 blocks
                System.arraycopy(PrimaryCommandsTest.cdb("0016 0010 00000000 0000000000000000"
                        + "00000004 00000000"), 0, data, 0, bytes);
            } else {
                Arrays.fill(data, (byte) fill);
            }
            target.device.shut(1, request -> request.operation() != BlockRequest.Operation.FLUSH);
            int tag = initiator.write(initiator.newTag(), initiator.useCmdSn(),
                    PrimaryCommandsTest.cdb(cdb), data, bytes, true);
            target.device.awaitArrivals();
            assertThat(select(other, 0, OFF)).isZero();
            target.device.requests();

            target.device.open();
            RawInitiator.Received answer = initiator.receive();
            assertThat(answer.bhs().itt()).isEqualTo(tag);
            assertThat(answer.status()).isEqualTo(Status.GOOD);
            assertThat(target.device.requests()).containsExactly("FLUSH");
        }
    }

    private TargetServer serve(BadFlushes device) throws IOException {
        return TargetFixture.builder().portal("127.0.0.1", 0)
                .target(TargetSpec.of(RawInitiator.TARGET).withLun(0,
                        DiskSpec.of(device)
                                .withState(StateStore.inDirectory(directory))))
                .start();
    }

    /** MODE SELECT(6) of the Caching page; its sense, or 0. */
    private static int select(RawInitiator initiator, int sp, int wce) throws IOException {
        byte[] data = PrimaryCommandsTest.cdb(String.format(PAGE, wce));
        return initiator.commandOut(
                new byte[]{0x15, (byte) (0x10 | sp), 0, 0, (byte) data.length, 0}, data).sense();
    }
}
