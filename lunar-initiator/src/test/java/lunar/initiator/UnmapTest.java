package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import lunar.block.Capability;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.Status;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.UnmapParameterList;
import lunar.scsi.block.WriteSame;
import lunar.scsi.command.ReportSupportedOperationCodes;
import lunar.scsi.command.SupportedOperationCode;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.LogicalBlockProvisioning;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that a LUN promises zeroes after an unmap only where its commands do: WRITE SAME with UNMAP and zeroes, but not
 * UNMAP, which may leave partial granules or any block as it is.
 */
@Timeout(120)
class UnmapTest {
    private static final int GRANULE = 8;

    /** Provisioning data that a disk reports. */
    private record Provisioning(boolean unmap, boolean writeSame, boolean readZeroes,
            int granuleBlocks) {}

    private final ScriptedDisk disk = new ScriptedDisk();
    private final ConcurrentLinkedQueue<Cdb> changes = new ConcurrentLinkedQueue<>();

    private boolean serve(ScriptedPeer peer, ScsiCommand command, Cdb cdb, Provisioning told)
            throws Exception {
        switch (cdb) {
            case Inquiry inquiry when inquiry.evpd() && inquiry.page() == 0 ->
                ScriptedDisk.data(peer, command, new SupportedVpdPages(
                        List.of(0, BlockLimits.CODE, LogicalBlockProvisioning.CODE)), 255);
            case Inquiry inquiry when inquiry.evpd() && inquiry.page() == BlockLimits.CODE ->
                ScriptedDisk.data(peer, command, new BlockLimits(false, 0, 0, 0, 0, 0, 200, 1,
                        told.granuleBlocks, OptionalLong.empty(), 100, 0), 255);
            case Inquiry inquiry when inquiry.evpd()
                    && inquiry.page() == LogicalBlockProvisioning.CODE ->
                ScriptedDisk.data(peer, command, new LogicalBlockProvisioning(0, told.unmap,
                        told.writeSame, false, told.readZeroes ? 1 : 0, false,
                        LogicalBlockProvisioning.THIN), 255);
            case ReadCapacity16 _ -> ScriptedDisk.data(peer, command,
                    new CapacityData16(ScriptedDisk.BLOCK_COUNT - 1, ScriptedDisk.BLOCK_SIZE, 0,
                            0, true, told.readZeroes, 0),
                    32);
            case ReportSupportedOperationCodes _ -> ScriptedDisk.data(peer, command,
                    new SupportedOperationCode(SupportedOperationCode.Support.STANDARD,
                            Bytes.EMPTY, Optional.empty()),
                    64);
            case Unmap _ -> {
                changes.add(cdb);
                var list = UnmapParameterList.decode(
                        MemorySegment.ofArray(disk.receiveWrite(peer, command)), 1, 200);
                UnmapParameterList.Range range = list.ranges().getFirst();
                long first = Math.ceilDiv(range.lba(), GRANULE) * GRANULE;
                long end = (range.lba() + range.blockCount()) / GRANULE * GRANULE;
                zero(first, Math.max(first, end));
                ScriptedDisk.status(peer, command, Status.GOOD);
            }
            case WriteSame same -> {
                changes.add(cdb);
                assertThat(disk.receiveWrite(peer, command)).containsOnly(0);
                zero(same.lba(), same.lba() + same.blockCount());
                ScriptedDisk.status(peer, command, Status.GOOD);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void zero(long first, long end) {
        Arrays.fill(disk.blocks(), (int) first * ScriptedDisk.BLOCK_SIZE,
                (int) end * ScriptedDisk.BLOCK_SIZE, (byte) 0);
    }

    private Loopback loopback(Provisioning told) {
        return new Loopback(peer -> disk.serve(peer,
                (session, command, cdb) -> serve(session, command, cdb, told)));
    }

    private static boolean isZero(LunDevice device, long lba, int blocks) throws Exception {
        MemorySegment read = Loopback.blocks(blocks).fill((byte) 1);
        device.read(lba, read);
        return read.mismatch(Loopback.blocks(blocks).fill((byte) 0)) < 0;
    }

    @ParameterizedTest
    @CsvSource({"1", "8"})
    void shouldNotPromiseZeroesByUnmapAlone(int granuleBlocks) throws Exception {
        try (var loopback = loopback(new Provisioning(true, false, true, granuleBlocks));
                LunDevice device = loopback.open()) {
            device.write(0, Loopback.blocks(64).fill((byte) 7));
            device.unmap(3, 20);
            assertThat(changes).hasExactlyElementsOfTypes(Unmap.class);
            assertThat(isZero(device, 3, 20)).as("the ends are no whole granules").isFalse();
            assertThat(isZero(device, 8, 8)).isTrue();
            assertThat(device.capabilities()).contains(Capability.UNMAP)
                    .doesNotContain(Capability.UNMAP_ZEROES);
            assertThat(device.limits().maxUnmapBlocks()).isEqualTo(200);
        }
    }

    /** With a granularity of one block, too: a device may leave any block mapped that it is asked to unmap. */
    @ParameterizedTest
    @CsvSource({"true, 1", "true, 8", "false, 1", "false, 8"})
    void shouldZeroByWriteSameThatUnmaps(boolean hasUnmap, int granuleBlocks) throws Exception {
        try (var loopback = loopback(new Provisioning(hasUnmap, true, true, granuleBlocks));
                LunDevice device = loopback.open()) {
            assertThat(device.capabilities()).contains(Capability.UNMAP, Capability.UNMAP_ZEROES);
            assertThat(device.limits().maxUnmapBlocks()).isEqualTo(100);
            device.write(0, Loopback.blocks(64).fill((byte) 7));
            device.unmap(3, 20);
            assertThat(isZero(device, 3, 20)).isTrue();
            assertThat(changes).singleElement()
                    .satisfies(cdb -> assertThat(((WriteSame) cdb).unmap()).isTrue());
        }
    }

    @Test
    void shouldNotUnmapIfBlocksWouldNotReadAsZeroes() throws Exception {
        try (var loopback = loopback(new Provisioning(true, true, false, 1));
                LunDevice device = loopback.open()) {
            assertThat(device.capabilities()).contains(Capability.WRITE_ZEROES)
                    .doesNotContain(Capability.UNMAP, Capability.UNMAP_ZEROES);
            device.writeZeroes(3, 20);
            assertThat(changes).singleElement()
                    .satisfies(cdb -> assertThat(((WriteSame) cdb).unmap()).isFalse());
        }
    }
}
