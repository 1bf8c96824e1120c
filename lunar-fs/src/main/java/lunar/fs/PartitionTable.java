package lunar.fs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;

/**
 * The volumes of a device: its partitions, or the whole device if there are none.
 *
 * @param scheme type of the table
 * @param volumes in the order of their numbers; at least one
 * @param notices notices for the user, one line each: a table read from its backup, a partition beyond the end of the
 *        device
 */
public record PartitionTable(Scheme scheme, List<Volume> volumes, List<String> notices) {
    /** Most partitions of a table. */
    public static final int MAX_PARTITIONS = 1024;

    /** How a device is divided. */
    public enum Scheme {
        /** Not at all. */
        NONE,
        /** Master boot record, with logical partitions in an extended one. */
        MBR,
        /** GUID partition table (UEFI 2.10, section 5.3). */
        GPT
    }

    public PartitionTable {
        volumes = List.copyOf(volumes);
        notices = List.copyOf(notices);
    }

    /** Reads the table of a device. An invalid table is treated as absent. */
    public static PartitionTable read(BlockDevice device) throws IOException {
        VolumeReader whole = VolumeReader.ofWhole(device);
        var notices = new ArrayList<String>();
        if (!KnownFormats.isFat(whole)) { // its boot sector has the mark of an MBR, too
            Optional<List<Volume>> gpt = Gpt.read(whole, device.blockSize(), notices);
            if (gpt.isPresent()) {
                return new PartitionTable(Scheme.GPT, orWhole(gpt.get(), whole), notices);
            }
            List<Volume> mbr = Mbr.read(whole, device.blockSize(), notices);
            if (!mbr.isEmpty()) {
                return new PartitionTable(Scheme.MBR, mbr, notices);
            }
        }
        return new PartitionTable(Scheme.NONE, orWhole(List.of(), whole), notices);
    }

    private static List<Volume> orWhole(List<Volume> volumes, VolumeReader whole) {
        return volumes.isEmpty()
                ? List.of(new Volume(0, "whole device", "", 0, whole.sizeBytes()))
                : volumes;
    }

    /** Returns a volume clipped to the device; empty if nothing of it is on the device. */
    static Optional<Volume> onDevice(VolumeReader whole, Volume wanted, List<String> notices) {
        if (wanted.offsetBytes() <= 0 || wanted.offsetBytes() >= whole.sizeBytes()
                || wanted.sizeBytes() <= 0) {
            notices.add("partition " + wanted.number() + " is beyond the end of the device");
            return Optional.empty();
        }
        long room = whole.sizeBytes() - wanted.offsetBytes();
        if (wanted.sizeBytes() <= room) {
            return Optional.of(wanted);
        }
        notices.add("partition " + wanted.number() + " ends " + (wanted.sizeBytes() - room)
                + " bytes beyond the end of the device");
        return Optional.of(new Volume(wanted.number(), wanted.type(), wanted.name(),
                wanted.offsetBytes(), room));
    }
}
