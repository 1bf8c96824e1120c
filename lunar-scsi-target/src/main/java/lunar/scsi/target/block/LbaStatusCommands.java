package lunar.scsi.target.block;

import java.util.ArrayList;
import java.util.List;
import lunar.block.BlockDevice;
import lunar.block.Extent;
import lunar.block.StorageException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.block.GetLbaStatus;
import lunar.scsi.block.LbaStatusList;
import lunar.scsi.block.LbaStatusList.Provisioning;
import lunar.scsi.target.Access;
import lunar.scsi.target.CommandSet;
import lunar.scsi.target.ScsiTask;

/** Executes GET LBA STATUS (SBC-4 section 5.6) from the extents that the device reports. */
final class LbaStatusCommands {
    private static final int MAX_EXTENTS = 256;
    private static final int HEADER_LENGTH = 8;
    private static final int EXTENT_LENGTH = 16;

    private final BlockDevice device;

    LbaStatusCommands(BlockDevice device) { this.device = device; }

    void register(CommandSet commands) {
        commands.on(GetLbaStatus.class, Access.READ, this::status);
    }

    private void status(ScsiTask task, GetLbaStatus command) {
        if (command.lba() < 0 || command.lba() >= device.blockCount()) {
            task.checkCondition(
                    Sense.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.LBA_OUT_OF_RANGE));
        } else if (command.reportType() > GetLbaStatus.ANCHORED
                && command.reportType() != GetLbaStatus.UNRECOVERED_ERRORS) {
            task.checkCondition(Sense.invalidFieldInCdb(14, 7));
        } else { // querying the holes of a file may block
            task.work(() -> {
                byte[] list = new LbaStatusList(extents(task, command), true).bytes();
                return last -> last.good(list, command.allocationLength());
            });
        }
    }

    private List<LbaStatusList.Extent> extents(ScsiTask task, GetLbaStatus command)
            throws StorageException {
        var extents = new ArrayList<LbaStatusList.Extent>();
        long blocks = device.blockCount();
        // Collect at least one, even if it does not fit, so that the length in the header shows that there is more.
        long room = Math.clamp((command.allocationLength() - HEADER_LENGTH) / EXTENT_LENGTH, 1,
                MAX_EXTENTS);
        for (long lba = command.lba(); lba < blocks && extents.size() < room && !task.aborted();) {
            Extent extent = device.extent(lba);
            long count = Math.min(extent.blockCount(), 0xffff_ffffL);
            Provisioning provisioning = extent.allocated()
                    ? Provisioning.MAPPED
                    : Provisioning.DEALLOCATED;
            if (isWanted(command.reportType(), provisioning)) {
                extents.add(new LbaStatusList.Extent(lba, count, provisioning));
            }
            lba += count;
        }
        return extents;
    }

    private static boolean isWanted(int reportType, Provisioning provisioning) {
        return switch (reportType) {
            case GetLbaStatus.ALL -> true;
            case GetLbaStatus.NOT_MAPPED -> provisioning != Provisioning.MAPPED;
            case GetLbaStatus.MAPPED -> provisioning == Provisioning.MAPPED;
            case GetLbaStatus.DEALLOCATED -> provisioning == Provisioning.DEALLOCATED;
            case GetLbaStatus.ANCHORED -> provisioning == Provisioning.ANCHORED;
            default -> false; // no block is known to be unreadable
        };
    }
}
