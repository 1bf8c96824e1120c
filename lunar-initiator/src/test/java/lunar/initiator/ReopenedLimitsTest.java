package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import lunar.block.Capability;
import lunar.block.Extent;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.initiator.multipath.PathPolicy;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.CapacityData10;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.GetLbaStatus;
import lunar.scsi.block.LbaStatusList;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.ReadCapacity10;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.command.ReportSupportedOperationCodes;
import lunar.scsi.command.SupportedOperationCode;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.LogicalBlockProvisioning;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that reported limits of a unit hold in every session, regardless of the responses to optional queries. */
@Timeout(180)
class ReopenedLimitsTest {
    private static final int CUT_LBA = 200;
    private static final Capability[] ALL = {Capability.UNMAP, Capability.UNMAP_ZEROES,
            Capability.WRITE_ZEROES, Capability.COMPARE_AND_WRITE, Capability.FUA};
    private static final BlockLimits LIMITS = new BlockLimits(false, 1, 0, 64, 32, 0, 1000, 1, 0,
            OptionalLong.empty(), 500, 0);

    /** MODE SENSE(6): DPOFUA, no block descriptor, no pages. */
    private static final byte[] MODE = {3, 0, ModeParameters.DPO_FUA, 0};

    private final ScriptedDisk disk = new ScriptedDisk();
    private final AtomicInteger logins = new AtomicInteger();
    private final AtomicInteger compared = new AtomicInteger();
    private final AtomicBoolean cut = new AtomicBoolean();

    private static boolean isOptional(Cdb cdb) {
        return switch (cdb) {
            case Inquiry inquiry -> inquiry.page() == BlockLimits.CODE
                    || inquiry.page() == LogicalBlockProvisioning.CODE;
            case CompareAndWrite compare -> compare.blockCount() == 0;
            default -> cdb instanceof ReportSupportedOperationCodes || cdb instanceof ModeSense
                    || cdb instanceof ReadCapacity16;
        };
    }

    /** A device that has everything. */
    private boolean tellsAll(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception {
        switch (cdb) {
            case ReadBlocks read when read.lba() == CUT_LBA && cut.getAndSet(false) -> peer.cut();
            case Inquiry inquiry when inquiry.evpd() -> {
                switch (inquiry.page()) {
                    case 0 -> ScriptedDisk.data(peer, command, new SupportedVpdPages(
                            List.of(0, BlockLimits.CODE, LogicalBlockProvisioning.CODE)), 255);
                    case BlockLimits.CODE -> ScriptedDisk.data(peer, command, LIMITS, 255);
                    case LogicalBlockProvisioning.CODE -> ScriptedDisk.data(peer, command,
                            new LogicalBlockProvisioning(0, true, true, false, 1, false,
                                    LogicalBlockProvisioning.THIN),
                            255);
                    default -> ScriptedDisk.sense(peer, command, Sense.of(
                            SenseKey.ILLEGAL_REQUEST, AdditionalSense.INVALID_FIELD_IN_CDB));
                }
            }
            case Inquiry inquiry -> ScriptedDisk.data(peer, command,
                    StandardInquiry.disk("OTHER", "SCRIPTED", "1"), inquiry.allocationLength());
            case ReadCapacity10 _ -> ScriptedDisk.data(peer, command,
                    CapacityData10.of(ScriptedDisk.BLOCK_COUNT, ScriptedDisk.BLOCK_SIZE), 8);
            case ReadCapacity16 _ -> ScriptedDisk.data(peer, command,
                    new CapacityData16(ScriptedDisk.BLOCK_COUNT - 1, ScriptedDisk.BLOCK_SIZE, 0, 3,
                            true, true, 0),
                    32);
            case ModeSense _ -> ScriptedDisk.dataIn(peer, command, MODE);
            case ReportSupportedOperationCodes _ -> ScriptedDisk.data(peer, command,
                    new SupportedOperationCode(SupportedOperationCode.Support.STANDARD,
                            Bytes.EMPTY, Optional.empty()),
                    64);
            case GetLbaStatus _ -> {
                byte[] list = new LbaStatusList(List.of(new LbaStatusList.Extent(0,
                        ScriptedDisk.BLOCK_COUNT, LbaStatusList.Provisioning.DEALLOCATED)))
                        .bytes();
                ScriptedDisk.dataIn(peer, command, list);
            }
            case CompareAndWrite compare -> {
                if (compare.blockCount() > 0) {
                    compared.incrementAndGet();
                    byte[] _ = disk.receiveWrite(peer, command);
                }
                ScriptedDisk.status(peer, command, Status.GOOD);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** The session of this number gets no good answer to what is optional. */
    private void serve(ScriptedPeer peer, int poorOne, String how) throws Exception {
        boolean poor = logins.getAndIncrement() == poorOne;
        peer.login("DefaultTime2Wait=0");
        disk.serveLoggedIn(peer, (_, command, cdb) -> {
            if (!poor || !isOptional(cdb)) {
                return tellsAll(peer, command, cdb);
            }
            switch (how) {
                case "error" -> ScriptedDisk.sense(peer, command, Sense.of(
                        SenseKey.HARDWARE_ERROR, AdditionalSense.INTERNAL_TARGET_FAILURE));
                case "busy port" -> ScriptedDisk.status(peer, command,
                        Status.RESERVATION_CONFLICT);
                default -> {
                    // no answer
                }
            }
            return true;
        });
    }

    private static MultipathOptions paths(Loopback loopback, int count) {
        return MultipathOptions.of(Stream.generate(loopback::options).limit(count).toList(),
                Lun.ZERO).withPauses(1, 10);
    }

    private static void assertHasAll(MultipathDevice device) throws Exception {
        assertThat(device.capabilities()).contains(ALL);
        assertThat(device.limits().maxTransferBlocks()).isEqualTo(64);
        assertThat(device.limits().maxCompareAndWriteBlocks()).isOne();
        assertThat(device.limits().maxUnmapBlocks()).as("by WRITE SAME").isEqualTo(500);
        assertThat(device.geometry().physicalBlockSize()).isEqualTo(4096);
    }

    /** A short timeout only if one has to expire: everything else is to be answered. */
    private static Loopback with(Loopback loopback, String how) {
        return how.equals("silence")
                ? loopback.timeouts(Loopback.patient().withCommandMs(4_000))
                : loopback;
    }

    @ParameterizedTest
    @ValueSource(strings = {"error", "busy port", "silence"})
    void shouldKeepReportedStateAcrossSessionRecovery(String how) throws Exception {
        try (var loopback = with(new Loopback(peer -> serve(peer, 1, how)), how);
                MultipathDevice device = MultipathDevice.open(loopback.initiator,
                        paths(loopback, 1))) {
            assertHasAll(device);
            cut.set(true);
            device.read(CUT_LBA, Loopback.blocks(1));
            assertThat(logins).hasValue(2);
            assertHasAll(device);
            device.compareAndWrite(0, Loopback.blocks(2));
            assertThat(compared).hasValue(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"error", "busy port", "silence"})
    void shouldFindHolesThroughASessionOpenedBeforeThem(String how) throws Exception {
        try (var loopback = with(new Loopback(peer -> serve(peer, 1, how)), how);
                MultipathDevice device = MultipathDevice.open(loopback.initiator,
                        paths(loopback, 1))) {
            var hole = new Extent(0, ScriptedDisk.BLOCK_COUNT, false);
            assertThat(device.extent(0)).isEqualTo(hole);
            cut.set(true);
            device.read(CUT_LBA, Loopback.blocks(1));
            assertThat(logins).hasValue(2);
            assertThat(device.extent(0)).isEqualTo(hole);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldShareReportedStateAcrossPaths(int poorOne) throws Exception {
        try (var loopback = new Loopback(peer -> serve(peer, poorOne, "error"));
                MultipathDevice device = MultipathDevice.open(loopback.initiator,
                        paths(loopback, 2).withPolicy(PathPolicy.roundRobin()))) {
            while (device.paths().stream().anyMatch(path -> path.state() != Path.State.UP)) {
                Thread.sleep(1);
            }
            assertHasAll(device);
            for (int i = 0; i < 4; i++) {
                device.compareAndWrite(0, Loopback.blocks(2));
            }
            assertThat(device.paths())
                    .allSatisfy(path -> assertThat(path.completed()).isPositive());
        }
    }
}
