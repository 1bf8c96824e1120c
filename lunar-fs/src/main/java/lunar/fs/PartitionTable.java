package lunar.fs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;

/**
 * The volumes of a device: its partitions, or the whole of it where there are none.
 *
 * @param scheme what kind of table there is
 * @param volumes in the order of their numbers; at least one
 * @param notices what a person should know, one line each: a table whose copy had to be taken, a partition that does
 *        not fit
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

    /** Reads the table of a device. One that makes no sense is taken for none. */
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

    /** A volume with what of it is on the device; empty where nothing is. */
    static Optional<Volume> onDevice(VolumeReader whole, Volume wanted, List<String> notices) {
        if (wanted.offsetBytes() <= 0 || wanted.offsetBytes() >= whole.sizeBytes()
                || wanted.sizeBytes() <= 0) {
            notices.add("partition " + wanted.number() + " is not on the device");
            return Optional.empty();
        }
        long room = whole.sizeBytes() - wanted.offsetBytes();
        if (wanted.sizeBytes() <= room) {
            return Optional.of(wanted);
        }
        notices.add("partition " + wanted.number() + " ends " + (wanted.sizeBytes() - room)
                + " bytes behind the end of the device");
        return Optional.of(new Volume(wanted.number(), wanted.type(), wanted.name(),
                wanted.offsetBytes(), room));
    }
}
