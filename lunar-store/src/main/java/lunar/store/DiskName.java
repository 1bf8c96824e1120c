package lunar.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import lunar.block.DeviceRecords;

/**
 * The name of a disk or a partition, which does not change when the system boots: see {@link DiskNaming}.
 *
 * @param text the name
 * @param doubt why another disk may have the name, now or after a boot, in words for the operator; empty if it is
 *        unique
 * @param earlier names that earlier versions gave the disk
 */
record DiskName(String text, String doubt, List<String> earlier) {
    private static final Path UDEV = Path.of("/run/udev/data");

    /** Creates a unique name. */
    DiskName(String text) { this(text, "", List.of()); }

    /** The name of a disk or partition, by its folder in {@code /sys/class/block}. */
    static DiskName of(Path system, DeviceRecords records) throws IOException {
        return of(system, UDEV, Machine.id(), Machine.id(records));
    }

    /**
     * @param system folder of the disk in {@code /sys/class/block}
     * @param udev udev's database
     * @param machine identifier that the system has; earlier versions know no other
     * @param own identifier that this machine has in records, or else the one of the system
     */
    static DiskName of(Path system, Path udev, String machine, String own) throws IOException {
        DiskName name = new DiskNaming(udev, own, BootId.get()).name(system);
        return machine.equals(own)
                ? name
                : name.replacing(new DiskNaming(udev, machine, BootId.get()).name(system));
    }

    /** Whether no other disk has the name. */
    boolean isUnique() { return doubt.isEmpty(); }

    /** This name, of a disk that earlier versions gave another one. */
    DiskName replacing(DiskName other) {
        var all = new LinkedHashSet<>(earlier);
        all.add(other.text);
        all.addAll(other.earlier);
        all.remove(text);
        return new DiskName(text, doubt, List.copyOf(all));
    }

    /** This name, of a disk that earlier versions gave another one. */
    DiskName replacing(String other) {
        return replacing(new DiskName(other));
    }

    /** The name of a part of the disk. */
    DiskName part(String which) {
        return new DiskName(text + which, doubt,
                earlier.stream().map(one -> one + which).toList());
    }
}
