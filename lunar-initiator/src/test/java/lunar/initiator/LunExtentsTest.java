package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.DeviceGoneException;
import lunar.block.Devices;
import lunar.block.Extent;
import lunar.block.OutOfRangeException;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Cdb;
import lunar.scsi.ParameterData;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.GetLbaStatus;
import lunar.scsi.block.LbaStatusList;
import lunar.scsi.block.LbaStatusList.Provisioning;
import lunar.scsi.block.ReadCapacity16;
import lunar.testkit.ScriptedPeer;
import lunar.testkit.ScriptedTarget;
import org.junit.jupiter.api.Test;

class LunExtentsTest {
    private final List<GetLbaStatus> asked = Collections.synchronizedList(new ArrayList<>());
    private volatile long blockCount = ScriptedDisk.BLOCK_COUNT;

    /** How a scripted LUN answers GET LBA STATUS. */
    private interface Answer {
        void to(ScriptedPeer peer, ScsiCommand command, GetLbaStatus status) throws Exception;
    }

    private interface Check {
        void of(BlockDevice device) throws Exception;
    }

    @Test
    void shouldJoinEqualExtentsFromTheRequestedBlock() throws Exception {
        Answer answer = list(extent(0, 12, Provisioning.DEALLOCATED),
                extent(12, 20, Provisioning.DEALLOCATED), extent(32, 8, Provisioning.MAPPED),
                extent(40, 8, Provisioning.ANCHORED), extent(48, 8, Provisioning.UNKNOWN),
                extent(56, 0xffff_ffffL, Provisioning.DEALLOCATED));
        with(true, answer, device -> {
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 32, false));
            assertThat(device.extent(5)).isEqualTo(new Extent(5, 27, false));
        });
        assertThat(asked).extracting(GetLbaStatus::lba).containsExactly(0L, 5L);
    }

    @Test
    void shouldTreatOnlyDeallocatedBlocksAsHolesWithinTheDevice() throws Exception {
        Answer answer = (peer, command, status) -> {
            List<LbaStatusList.Extent> all = List.of(extent(32, 8, Provisioning.MAPPED),
                    extent(40, 8, Provisioning.ANCHORED), extent(48, 8, Provisioning.UNKNOWN),
                    extent(56, 0xffff_ffffL, Provisioning.DEALLOCATED));
            send(peer, command, new LbaStatusList(
                    all.subList(status.lba() < 40 ? 0 : 3, 4)));
        };
        with(true, answer, device -> {
            assertThat(device.extent(33)).isEqualTo(new Extent(33, 7 + 8 + 8, true));
            assertThat(device.extent(56)).isEqualTo(new Extent(56, 200, false));
        });
    }

    @Test
    void shouldTreatAllAsAllocatedIfTheResponseIsInvalid() throws Exception {
        List<Answer> answers = List.of(list(), list(extent(8, 8, Provisioning.DEALLOCATED)),
                list(extent(7, 0, Provisioning.DEALLOCATED)),
                list(extent(0, 7, Provisioning.DEALLOCATED)),
                list(extent(-1, 0xffff_ffffL, Provisioning.DEALLOCATED)),
                list(extent(Long.MIN_VALUE, 0xffff_ffffL, Provisioning.DEALLOCATED)),
                (peer, command, _) -> ScriptedDisk.dataIn(peer, command, new byte[4]));
        for (Answer answer : answers) {
            with(true, answer, device -> assertThat(device.extent(7))
                    .isEqualTo(new Extent(7, ScriptedDisk.BLOCK_COUNT - 7, true)));
        }
        assertThat(asked).hasSameSizeAs(answers);
    }

    @Test
    void shouldNotQueryAgainIfTheCommandIsRejected() throws Exception {
        for (AdditionalSense why : List.of(AdditionalSense.INVALID_COMMAND_OPERATION_CODE,
                AdditionalSense.INVALID_FIELD_IN_CDB)) {
            asked.clear();
            with(true, sense(Sense.of(SenseKey.ILLEGAL_REQUEST, why)), device -> {
                assertThat(device.extent(3)).isEqualTo(new Extent(3, 253, true));
                assertThat(device.extent(4)).isEqualTo(new Extent(4, 252, true));
            });
            assertThat(asked).hasSize(1);
        }
    }

    @Test
    void shouldQueryAgainAfterAnotherFailure() throws Exception {
        Answer answer = sense(
                Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.LBA_OUT_OF_RANGE));
        with(true, answer, device -> {
            assertThatThrownBy(() -> device.extent(3)).isInstanceOf(OutOfRangeException.class);
            assertThatThrownBy(() -> device.extent(3)).isInstanceOf(OutOfRangeException.class);
        });
        assertThat(asked).hasSize(2);
    }

    @Test
    void shouldTreatAllAsDataIfTheQueryFails() throws Exception {
        Answer answer = sense(Sense.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE));
        with(true, answer, device -> {
            assertThat(device.extent(3)).isEqualTo(new Extent(3, 253, true));
            assertThat(device.extent(3)).isEqualTo(new Extent(3, 253, true));
        });
        assertThat(asked).as("it may work the next time").hasSize(2);
    }

    @Test
    void shouldDetectGrowthReportedInBetween() throws Exception {
        Answer answer = (peer, command, _) -> {
            if (asked.size() == 1) {
                blockCount = 512;
                ScriptedDisk.sense(peer, command, Sense.of(SenseKey.UNIT_ATTENTION,
                        AdditionalSense.CAPACITY_DATA_HAS_CHANGED));
            } else {
                send(peer, command, new LbaStatusList(
                        List.of(extent(0, 512, Provisioning.DEALLOCATED))));
            }
        };
        with(true, answer, device -> {
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 256, false));
            assertThat(device.extent(0)).isEqualTo(new Extent(0, 512, false));
        });
    }

    @Test
    void shouldNotAskADeviceWithoutHoles() throws Exception {
        with(false, list(extent(0, 256, Provisioning.DEALLOCATED)),
                device -> assertThat(device.extent(0)).isEqualTo(new Extent(0, 256, true)));
        assertThat(asked).isEmpty();
    }

    @Test
    void shouldRejectWhatIsNotOnTheDeviceAndBeGoneAfterClose() throws Exception {
        with(true, list(extent(0, 256, Provisioning.DEALLOCATED)), device -> {
            for (long lba : new long[]{-1, 256, Long.MAX_VALUE}) {
                assertThatThrownBy(() -> device.extent(lba))
                        .isInstanceOf(OutOfRangeException.class);
            }
            device.close();
            assertThatThrownBy(() -> device.extent(0)).isInstanceOf(DeviceGoneException.class);
        });
        assertThat(asked).isEmpty();
    }

    private void with(boolean provisioned, Answer answer, Check check) throws Exception {
        var served = new ScriptedDisk();
        ScriptedDisk.Hook hook = (peer, command, cdb) -> handled(provisioned, answer, peer,
                command, cdb);
        try (var target = ScriptedTarget.start(peer -> served.serve(peer, hook))) {
            try (BlockDevice device = Devices
                    .open("iscsi://" + target.portal() + "/iqn.2026-11.org.lunar:demo/0")) {
                check.of(device);
            }
            assertThat(target.failures()).isEmpty();
        }
    }

    private boolean handled(boolean provisioned, Answer answer, ScriptedPeer peer,
            ScsiCommand command, Cdb cdb) throws Exception {
        switch (cdb) {
            case ReadCapacity16 _ -> send(peer, command, new CapacityData16(blockCount - 1,
                    ScriptedDisk.BLOCK_SIZE, 0, 0, provisioned, provisioned, 0));
            case GetLbaStatus status -> {
                asked.add(status);
                answer.to(peer, command, status);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static LbaStatusList.Extent extent(long lba, long blockCount, Provisioning status) {
        return new LbaStatusList.Extent(lba, blockCount, status);
    }

    private static Answer list(LbaStatusList.Extent... extents) {
        return (peer, command, _) -> send(peer, command, new LbaStatusList(List.of(extents)));
    }

    private static Answer sense(Sense sense) {
        return (peer, command, _) -> ScriptedDisk.sense(peer, command, sense);
    }

    private static void send(ScriptedPeer peer, ScsiCommand command, ParameterData data)
            throws Exception {
        byte[] bytes = data.bytes();
        ScriptedDisk.dataIn(peer, command, Arrays.copyOf(bytes,
                Math.min(bytes.length, command.expectedDataTransferBytes())));
    }
}
