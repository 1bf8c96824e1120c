package lunar.initiator.multipath;

import java.lang.foreign.MemorySegment;
import lunar.block.StorageException;
import lunar.initiator.LunDevice;
import lunar.initiator.ScsiResult;
import lunar.initiator.internal.retry.RetriedCall;
import lunar.scsi.Cdb;
import lunar.scsi.MalformedDataException;
import lunar.scsi.SenseKey;
import lunar.scsi.primary.ReportTargetPortGroups;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.DeviceIdentification;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.VpdPage;

/** Queries the access state of a path's target port for its unit (ALUA, SPC-5 sections 5.18 and 6.36). */
final class PortGroup {
    private static final int BYTES = 4096;
    /** No time for retries: a unit that is busy is checked later. */
    private static final long NO_TIME_MS = 0;

    private PortGroup() {}

    /** Returns the state; ACTIVE_OPTIMIZED where the target has none, or its answer is invalid. */
    static TargetPortGroups.State state(LunDevice device) throws StorageException {
        var data = MemorySegment.ofArray(new byte[BYTES]);
        try {
            if (!ask(device, new Inquiry(true, DeviceIdentification.CODE, BYTES), data)
                    || !(VpdPage.decode(data) instanceof DeviceIdentification identification)) {
                return TargetPortGroups.State.ACTIVE_OPTIMIZED;
            }
            int group = identification.designators().stream().map(Designator::identifier)
                    .mapMultiToInt((identifier, found) -> {
                        if (identifier instanceof Identifier.TargetPortGroup own) {
                            found.accept(own.number());
                        }
                    }).findFirst().orElse(-1);
            if (group < 0 || !ask(device, new ReportTargetPortGroups(false, BYTES), data)) {
                return TargetPortGroups.State.ACTIVE_OPTIMIZED;
            }
            return TargetPortGroups.decode(data).groups().stream()
                    .filter(one -> one.number() == group).map(TargetPortGroups.Group::state)
                    .findFirst().orElse(TargetPortGroups.State.ACTIVE_OPTIMIZED);
        } catch (MalformedDataException _) {
            return TargetPortGroups.State.ACTIVE_OPTIMIZED;
        }
    }

    /** Whether the unit answers a TEST UNIT READY as usable, now or soon. */
    static boolean isThere(LunDevice device) throws StorageException {
        var result = passAttentions(device, new TestUnitReady(),
                MemorySegment.NULL);
        return result.isGood()
                || result.sense().map(sense -> sense.key() != SenseKey.ILLEGAL_REQUEST)
                        .orElse(true);
    }

    private static boolean ask(LunDevice device, Cdb cdb, MemorySegment data)
            throws StorageException {
        data.fill((byte) 0);
        return passAttentions(device, cdb, data).isGood();
    }

    private static ScsiResult passAttentions(LunDevice device, Cdb cdb, MemorySegment data)
            throws StorageException {
        return RetriedCall.send(() -> device.execute(cdb.bytes(), data, MemorySegment.NULL), true,
                NO_TIME_MS, () -> cdb + " on " + device);
    }
}
