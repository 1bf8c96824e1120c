package lunar.target;

import static lunar.target.RawInitiator.bytes;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import lunar.scsi.Status;
import lunar.store.MemoryDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests thin units: provisioning status, and errors when no space is left. */
class ProvisioningCommandsTest {
    /** Blocks of a chunk of memory. */
    private static final int CHUNK = 512;

    private static String statusCdb(int reportType) {
        return "9e120000000000000000000000ff%02x00".formatted(reportType);
    }

    @ParameterizedTest
    @CsvSource({"0, 0000000000000000000002000000000000000000000002000000060001000000",
            "1, 00000000000002000000060001000000", "2, 00000000000000000000020000000000",
            "3, 00000000000002000000060001000000", "4, ''", "16, ''"})
    void shouldReportBlocksOfTypeRequested(int type, String descriptors) throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            initiator.write(1, blocks(1, 1));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(initiator.command(statusCdb(type), 255).data())
                    .isEqualTo(bytes("%08x00000001".formatted(4 + descriptors.length() / 2)
                            + descriptors));
        }
    }

    @Test
    void shouldRejectReportTypeThatIsReservedAndBlockPastTheEnd() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.command(statusCdb(5), 255).sense()).isEqualTo(0x05_24_00);
            assertThat(initiator.command("9e120000000000000800000000ff0000", 255).sense())
                    .isEqualTo(0x05_21_00);
        }
    }

    /** The sense that makes a hypervisor pause the guest instead of failing its writes. */
    @Test
    void shouldPauseHostWhenSpaceRunsOutAndContinueWhenThereIsSome() throws Exception {
        try (var device = MemoryDevice.create(1 << 20, 512, CHUNK * 512);
                var server = TargetFixture.builder().portal("127.0.0.1", 0)
                        .target(TargetSpec.of(RawInitiator.TARGET).withLun(0, device)).start();
                var initiator = RawInitiator.ready(server, 1)) {
            initiator.write(0, blocks(1, 1));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            initiator.write(CHUNK, blocks(1, 2));
            assertThat(initiator.receive().sense()).isEqualTo(0x07_27_07);
            initiator.write(CHUNK - 1, blocks(2, 3)); // a part of it would have room
            assertThat(initiator.receive().sense()).isEqualTo(0x07_27_07);
            assertThat(initiator.read(CHUNK - 1, 2)).isEqualTo(blocks(2, 0));
            initiator.write(1, blocks(1, 4));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);

            assertThat(initiator.commandOut("42000000000000001800",
                    bytes("0016001000000000 0000000000000000 0000020000000000")).status())
                    .isEqualTo(Status.GOOD);
            initiator.write(CHUNK, blocks(1, 2));
            assertThat(initiator.receive().status()).isEqualTo(Status.GOOD);
            assertThat(initiator.read(0, 2)).isEqualTo(blocks(2, 0));
        }
    }

    /** More than a million blocks in a command libiscsi's suite takes for a mistake. */
    @Test
    void shouldUnmapAtMostAMebiblockAtOnce() throws Exception {
        try (var target = new TargetFixture("ram:4GiB", unit -> unit);
                var initiator = target.ready(1)) {
            byte[] limits = initiator.command("1201b000ff00", 255).data();
            assertThat(ByteBuffer.wrap(limits).getInt(20)).isEqualTo(1 << 20);
            String cdb = "42000000000000001800";
            assertThat(initiator.commandOut(cdb,
                    bytes("0016001000000000 0000000000000001 0010000000000000")).status())
                    .isEqualTo(Status.GOOD);
            assertThat(initiator.commandOut(cdb,
                    bytes("0016001000000000 0000000000000001 0010000100000000")).sense())
                    .isEqualTo(0x05_26_00);
        }
    }

    @Test
    void shouldRejectToAnchor() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.command("1201b200ff00", 255).data()[5] & 2).as("ANC_SUP").isZero();
            assertThat(initiator.commandOut("42010000000000001800", new byte[24]).sense())
                    .isEqualTo(0x05_24_00);
            assertThat(initiator.commandOut("41180000000000000100", new byte[512]).sense())
                    .isEqualTo(0x05_24_00);
        }
    }

    @Test
    void shouldWriteSameToTheEndWithoutDataOut() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            assertThat(initiator.commandOut("41000000000000000000", blocks(1, 0x55)).status())
                    .isEqualTo(Status.GOOD);
            assertThat(target.onDevice(2047, 1)).isEqualTo(blocks(1, 0x55));
            assertThat(initiator.command("9301000000000000020000000000 0000", 0).status()) // NDOB
                    .isEqualTo(Status.GOOD);
            assertThat(target.onDevice(0x1ff, 2)).startsWith(blocks(1, 0x55))
                    .endsWith(blocks(1, 0));
            assertThat(target.onDevice(2047, 1)).isEqualTo(blocks(1, 0));
            // UNMAP with data that unmapped blocks would not give back: they are written (SBC-4 section 5.49)
            assertThat(initiator.commandOut("41080000000000000400", blocks(1, 0x66)).status())
                    .isEqualTo(Status.GOOD);
            assertThat(target.onDevice(0, 4)).isEqualTo(blocks(4, 0x66));
        }
    }
}
