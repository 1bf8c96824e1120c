package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import lunar.block.Capability;
import lunar.block.DeviceGoneException;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.block.CapacityData10;
import lunar.scsi.block.CompareAndWrite;
import lunar.scsi.block.ReadCapacity10;
import lunar.scsi.block.ReadCapacity16;
import lunar.scsi.command.ReportSupportedOperationCodes;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that responses to optional queries never prevent a device from being opened. */
@Timeout(120) // and the time for a command is 600 s
class OptionalProbeTest {
    private static final BlockLimits LIMITS = new BlockLimits(false, 1, 0, 0, 0, 0, 0, 0, 0,
            OptionalLong.empty(), 0, 0);

    private final ConcurrentLinkedQueue<ScsiCommand> probes = new ConcurrentLinkedQueue<>();

    /** Tells of COMPARE AND WRITE in its limits, as istgt does. */
    private boolean tellsLimits(ScriptedPeer peer, ScsiCommand command, Cdb cdb) throws Exception {
        if (cdb instanceof CompareAndWrite) {
            probes.add(command);
        }
        switch (cdb) {
            case Inquiry inquiry when inquiry.evpd() && inquiry.page() == 0 -> ScriptedDisk
                    .data(peer, command, new SupportedVpdPages(List.of(0, BlockLimits.CODE)),
                            inquiry.allocationLength());
            case Inquiry inquiry when inquiry.evpd()
                    && inquiry.page() == BlockLimits.CODE ->
                ScriptedDisk.data(peer, command, LIMITS, inquiry.allocationLength());
            case ReadCapacity10 _ -> ScriptedDisk.data(peer, command,
                    CapacityData10.of(ScriptedDisk.BLOCK_COUNT, ScriptedDisk.BLOCK_SIZE), 8);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean isOptional(Cdb cdb, String which) {
        return switch (which) {
            case "COMPARE AND WRITE" -> cdb instanceof CompareAndWrite;
            case "operation codes" -> cdb instanceof ReportSupportedOperationCodes;
            case "MODE SENSE" -> cdb instanceof ModeSense;
            case "READ CAPACITY(16)" -> cdb instanceof ReadCapacity16;
            case "limits" -> cdb instanceof Inquiry inquiry && inquiry.page() == BlockLimits.CODE;
            default -> cdb instanceof CompareAndWrite
                    || cdb instanceof ReportSupportedOperationCodes || cdb instanceof ModeSense
                    || cdb instanceof ReadCapacity16;
        };
    }

    private static void assertWorks(LunDevice device) throws Exception {
        assertThat(device.blockCount()).isEqualTo(ScriptedDisk.BLOCK_COUNT);
        MemorySegment written = Loopback.blocks(1).fill((byte) 5);
        device.write(3, written);
        MemorySegment read = Loopback.blocks(1);
        device.read(3, read);
        assertThat(read.mismatch(written)).isEqualTo(-1);
        assertThat(device.capabilities()).doesNotContain(Capability.COMPARE_AND_WRITE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMPARE AND WRITE", "all"})
    void shouldOpenADeviceThatDoesNotAnswerWhatItNeedNotKnow(String which) throws Exception {
        try (var loopback = Loopback.disk((peer, command,
                cdb) -> isOptional(cdb, which) || tellsLimits(peer, command, cdb));
                LunDevice device = loopback.open()) {
            assertWorks(device);
            assertThat(device.session().isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMPARE AND WRITE", "operation codes", "MODE SENSE",
            "READ CAPACITY(16)", "limits", "all"})
    void shouldOpenADeviceThatAnswersItWithAnyError(String which) throws Exception {
        List<Sense> errors = List.of(
                Sense.of(SenseKey.HARDWARE_ERROR, AdditionalSense.INTERNAL_TARGET_FAILURE),
                Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE),
                Sense.of(SenseKey.NOT_READY, AdditionalSense.MANUAL_INTERVENTION_REQUIRED),
                Sense.of(SenseKey.MEDIUM_ERROR, AdditionalSense.NONE));
        for (Sense error : errors) {
            try (var loopback = Loopback.disk((peer, command, cdb) -> {
                if (isOptional(cdb, which)) {
                    ScriptedDisk.sense(peer, command, error);
                    return true;
                }
                return tellsLimits(peer, command, cdb);
            }); LunDevice device = loopback.open()) {
                assertThat(device.blockCount()).isEqualTo(ScriptedDisk.BLOCK_COUNT);
            }
        }
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (isOptional(cdb, which)) {
                ScriptedDisk.status(peer, command, Status.RESERVATION_CONFLICT);
                return true;
            }
            return tellsLimits(peer, command, cdb);
        }); LunDevice device = loopback.open()) {
            assertThat(device.blockCount()).isEqualTo(ScriptedDisk.BLOCK_COUNT);
        }
    }

    @Test
    void shouldDeclareTheProbeOfCompareAndWriteAsAWrite() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof CompareAndWrite) {
                probes.add(command);
                ScriptedDisk.status(peer, command, Status.GOOD);
                return true;
            }
            return tellsLimits(peer, command, cdb);
        }); LunDevice device = loopback.open()) {
            assertThat(device.capabilities()).contains(Capability.COMPARE_AND_WRITE);
            ScsiCommand probe = probes.remove();
            assertThat(probe.write()).isTrue();
            assertThat(probe.read()).isFalse();
            assertThat(probe.expectedDataTransferBytes()).isZero();
            assertThat(probe.isFinal()).isTrue();
        }
    }

    @Test
    void shouldNotOpenADeviceThatFailsWhatItMustKnow() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof TestUnitReady) {
                ScriptedDisk.sense(peer, command, Sense.of(SenseKey.NOT_READY,
                        AdditionalSense.MANUAL_INTERVENTION_REQUIRED));
                return true;
            }
            return false;
        })) {
            assertThatThrownBy(loopback::open).isInstanceOf(DeviceGoneException.class);
        }
    }

    @Test
    void shouldNotTreatTheEndOfASessionAsAnAnswer() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (cdb instanceof CompareAndWrite) {
                peer.cut();
            }
            return tellsLimits(peer, command, cdb);
        })) {
            assertThatThrownBy(loopback::open).isInstanceOf(DeviceGoneException.class);
        }
    }
}
