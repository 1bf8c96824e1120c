package lunar.target;

import static lunar.target.CopyFixture.assertGood;
import static lunar.target.RawInitiator.bytes;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;
import lunar.scsi.copy.BlockCopySegment;
import lunar.testkit.GranularDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a unit over a device that does not unmap partial granules. UNMAP may leave them too; commands that promise
 * zeroes must not (SBC-4 section 4.7.3.4.4).
 */
class AdvisoryUnmapTest {
    private static final int GRANULE = 16;
    /** No whole number of granules. */
    private static final int BLOCKS = 2040;

    private static BlockDevice granular() throws StorageException {
        return new GranularDevice(Devices.open("ram:" + BLOCKS * 512), GRANULE);
    }

    private static CopyFixture filled(BlockDevice... devices) throws Exception {
        var fixture = new CopyFixture(devices);
        fixture.write(0, 0, blocks(BLOCKS, 7));
        return fixture;
    }

    /** WRITE SAME of 40 blocks from block 3 on, with UNMAP. */
    @ParameterizedTest
    @ValueSource(strings = {"41 08 00000003 00 0028 00", "93 08 0000000000000003 00000028 00 00",
            "93 09 0000000000000003 00000028 00 00"})
    void shouldZeroEveryBlockByWriteSame(String cdb) throws Exception {
        try (var unit = filled(granular())) {
            boolean hasDataOut = !cdb.startsWith("93 09");
            assertGood(hasDataOut
                    ? unit.initiator.commandOut(cdb, blocks(1, 0))
                    : unit.initiator.command(cdb, 0));
            byte[] expected = blocks(BLOCKS, 7);
            Arrays.fill(expected, 3 * 512, 43 * 512, (byte) 0);
            assertThat(unit.content(0, 0, expected.length)).isEqualTo(expected);
        }
    }

    @Test
    void shouldUnmapAndReportThatUnmappedBlocksReadAsZeroes() throws Exception {
        try (var unit = filled(granular())) {
            assertGood(unit.initiator.commandOut("42000000000000001800",
                    bytes("0016001000000000 0000000000000003 0000002800000000")));
            byte[] expected = blocks(BLOCKS, 7);
            Arrays.fill(expected, GRANULE * 512, 2 * GRANULE * 512, (byte) 0);
            assertThat(unit.content(0, 0, expected.length)).isEqualTo(expected);
            assertThat(unit.initiator.command("1201b200ff00", 255).data()[5])
                    .as("LBPU, LBPWS, LBPWS10, LBPRZ 001b").isEqualTo((byte) 0xe4);
            assertThat(unit.initiator.command("9e100000000000000000000000200000", 32).data()[14])
                    .as("LBPME, LBPRZ").isEqualTo((byte) 0xc0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"040000000000", "48020000000000000000"})
    void shouldEraseEveryBlock(String cdb) throws Exception {
        try (var unit = filled(granular())) {
            assertGood(unit.initiator.command(cdb, 0));
            assertThat(unit.content(0, 0, BLOCKS * 512)).containsOnly(0);
        }
    }

    @Test
    void shouldCopyHolesAsZeroes() throws Exception {
        try (var unit = filled(granular(), Devices.open("ram:" + BLOCKS * 512))) {
            assertGood(unit.copy(List.of(unit.cscd(1), unit.cscd(0)),
                    new BlockCopySegment(false, false, 0, 1, 40, 0, 3)));
            byte[] expected = blocks(BLOCKS, 7);
            Arrays.fill(expected, 3 * 512, 43 * 512, (byte) 0);
            assertThat(unit.content(0, 0, expected.length)).isEqualTo(expected);
        }
    }
}
