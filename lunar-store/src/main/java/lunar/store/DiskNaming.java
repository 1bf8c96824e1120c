package lunar.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Names disks and partitions by Linux's {@code /sys/class/block} and udev's database: by a world-wide name, the UUID of
 * a device-mapper or md device, a partition's UUID on its disk. Device names are not used, because they change at boot.
 *
 * @param udev udev's database
 * @param machine identifier of this machine; empty if it has none
 * @param boot identifier of this boot
 */
record DiskNaming(Path udev, String machine, UUID boot) {
    private static final Pattern MULTIPATH = Pattern.compile("mpath-(.+)");
    /** UUID that kpartx(8) gives a partition of a multipath device. */
    private static final Pattern KPARTX = Pattern.compile("part(\\d+)-mpath-.+");
    private static final Pattern NVME = Pattern.compile("(eui|nvme|uuid)\\..+");
    /** Names that QEMU gives disks without a serial number (ATA), and gave namespaces without an EUI-64 (NVMe). */
    private static final Pattern QEMU_DEFAULT = Pattern
            .compile("t10\\.ATA +QEMU HARDDISK +QM\\d{5} *|eui\\.52540000\\p{XDigit}{8}");
    /** Name of an NVMe namespace by vendor and serial number; the number of a virtual controller is arbitrary. */
    private static final String QEMU_NVME = "nvme.1b36-";
    private static final String UUID_OF_PARTITION = "ID_PART_ENTRY_UUID";

    private static final String NO_MACHINE = "this machine has no /etc/machine-id (systemd-machine-id-setup"
            + " creates it), and without a state directory no identifier of its own; a disk of another"
            + " machine may have the same identity";
    private static final String POSITION = "it has no serial number or other name of its own, and its identity"
            + " depends on its position in this machine; set a serial number";
    private static final String BY_HAND = "it is a device-mapper device without a UUID, and its identity"
            + " depends on its name in this machine";
    private static final String THIS_BOOT = "it has no name that outlasts the system's boot, and its identity"
            + " changes with the next one";

    /** The name of a disk or partition, by its folder. */
    DiskName name(Path system) throws IOException {
        Path real = system.toRealPath();
        if (Files.exists(real.resolve("partition"))) {
            return partition(real);
        }
        Optional<DiskName> named = whole(real);
        return named.isPresent() ? named.get() : place(real);
    }

    /** A disk that was copied has partitions with the same UUIDs, so the disk counts, too. */
    private DiskName partition(Path system) throws IOException {
        Path above = above(system);
        Optional<DiskName> disk = whole(above);
        Optional<String> uuid = property(system, UUID_OF_PARTITION);
        String number = attribute(system, "partition").orElse("");
        if (disk.isPresent()) {
            return disk.get().part(" partition " + uuid.orElse(
                    number + " at " + attribute(system, "start").orElse("")));
        }
        DiskName place = place(above).part(" partition " + uuid.orElse(number));
        return uuid.isEmpty()
                ? place
                : new DiskName(place.text(), place.doubt(), List.of("partition " + uuid.get()));
    }

    private Optional<DiskName> whole(Path system) throws IOException {
        if (Files.exists(system.resolve("dm"))) {
            return deviceMapper(system);
        }
        if (Files.exists(system.resolve("md"))) {
            Optional<String> uuid = property(system, "MD_UUID");
            return uuid.or(() -> attribute(system, "md/uuid"))
                    .map(one -> new DiskName("md " + one));
        }
        if (Files.exists(system.resolve("loop"))) {
            return loop(system);
        }
        return attribute(system, "device/wwid") // SCSI
                .or(() -> attribute(system, "wwid")) // NVMe
                .map(this::worldWide)
                .or(() -> attribute(system, "device/cid").map(cid -> new DiskName("mmc " + cid)))
                // The serial number of a virtual disk is arbitrary.
                .or(() -> attribute(system, "serial").map(one -> ofMachine(" virtio " + one, "")));
    }

    /** A world-wide name, unless it is that of a virtual disk, which each virtual machine gives its own disks. */
    private DiskName worldWide(String wwid) {
        if (QEMU_DEFAULT.matcher(wwid).matches()) {
            return ofMachine(" " + wwid, POSITION).replacing(wwid);
        }
        return wwid.startsWith(QEMU_NVME)
                ? ofMachine(" " + wwid, "").replacing(wwid)
                : new DiskName(wwid);
    }

    /**
     * A name in this machine.
     *
     * @param doubt about a name that is not unique there either
     */
    private DiskName ofMachine(String text, String doubt) {
        return new DiskName(machine + text, machine.isEmpty() ? NO_MACHINE : doubt, List.of());
    }

    // --- device mapper ---

    private Optional<DiskName> deviceMapper(Path system) throws IOException {
        Optional<String> uuid = attribute(system, "dm/uuid");
        if (uuid.isEmpty()) { // dmsetup(8) without --uuid; the name is the operator's, the number is not
            return attribute(system, "dm/name").map(one -> ofMachine(" dm " + one, BY_HAND)
                    .replacing(machine + ":" + system));
        }
        var before = new DiskName("dm " + uuid.get());
        Matcher part = KPARTX.matcher(uuid.get());
        if (part.matches()) {
            Optional<DiskName> name = partitionOfMultipath(system, part.group(1));
            return Optional.of(name.map(one -> one.replacing(before)).orElse(before));
        }
        Matcher multipath = MULTIPATH.matcher(uuid.get());
        return Optional.of(multipath.matches() ? multipath(system, multipath.group(1)) : before);
    }

    /**
     * A multipath device is the disk that its paths lead to. Without paths its name follows from its UUID, where that
     * is possible: multipathd(8) takes scsi_id's name of a SCSI disk, which begins with the designator's type, and the
     * system's name of an NVMe disk.
     */
    private DiskName multipath(Path system, String wwid) throws IOException {
        String hex = wwid.substring(1);
        String text = switch (wwid.charAt(0)) {
            case '3' -> "naa." + hex;
            case '2' -> "eui." + hex;
            default -> NVME.matcher(wwid).matches() ? wwid : "dm mpath-" + wwid;
        };
        String before = wwid.startsWith("3") ? text : "dm mpath-" + wwid;
        for (Path path : slaves(system)) {
            Optional<DiskName> name = whole(path);
            if (name.isPresent()) {
                return name.get().replacing(before);
            }
        }
        return new DiskName(text).replacing(before);
    }

    /** The name that the partition has on a path; empty if that is unknown. */
    private Optional<DiskName> partitionOfMultipath(Path system, String number)
            throws IOException {
        for (Path disk : slaves(system)) {
            Optional<String> uuid = property(system, UUID_OF_PARTITION);
            if (uuid.isPresent()) {
                Optional<DiskName> whole = whole(disk);
                return whole.map(one -> new DiskName(one.text() + " partition " + uuid.get(),
                        one.doubt(), List.of()));
            }
            for (Path path : slaves(disk)) {
                for (Path one : folders(path)) {
                    if (attribute(one, "partition").filter(number::equals).isPresent()) {
                        return Optional.of(partition(one));
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** The devices below a device-mapper device. */
    private static List<Path> slaves(Path system) throws IOException {
        return folders(system.resolve("slaves"));
    }

    /** Folders in a folder, in an order that does not change. */
    private static List<Path> folders(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        List<Path> found;
        try (Stream<Path> all = Files.list(folder)) {
            found = all.filter(Files::isDirectory).sorted().toList();
        }
        var real = new ArrayList<Path>();
        for (Path one : found) {
            real.add(one.toRealPath());
        }
        return real;
    }

    // --- devices without a name ---

    /** The file, and which part of it; its path alone may be that of another file tomorrow. */
    private Optional<DiskName> loop(Path system) throws IOException {
        Optional<String> file = attribute(system, "loop/backing_file");
        if (file.isEmpty() || !Files.exists(Path.of(file.get()))) {
            return Optional.empty();
        }
        return Optional.of(ofMachine(" loop " + file.get() + " "
                + Files.getAttribute(Path.of(file.get()), "unix:ino") + " "
                + attribute(system, "loop/offset").orElse("0") + " "
                + attribute(system, "loop/sizelimit").orElse("0"), ""));
    }

    /** The bus and slot of the disk, without its name. */
    private DiskName place(Path disk) throws IOException {
        Optional<String> bus = property(disk, "ID_PATH");
        if (bus.isPresent()) {
            return position(bus.get());
        }
        if (!isNumbered(disk)) {
            String text = above(disk).toString().replaceFirst("/virtio\\d+(/|$)", "/");
            return position(text.endsWith("/block") ? text : disk.toString());
        }
        Optional<String> link = udevLines(disk, "S:").filter(one -> !one.startsWith("disk/"))
                .sorted().findFirst();
        DiskName name = link.isPresent()
                ? position("/dev/" + link.get())
                : new DiskName(machine + ":" + boot + ":" + disk, THIS_BOOT, List.of());
        return name.replacing(machine + ":" + disk);
    }

    private DiskName position(String where) { return ofMachine(":" + where, POSITION); }

    /** Whether the system has only numbered the disk (nbd, zram, zvol, rbd), in the order in which they were made. */
    private static boolean isNumbered(Path disk) {
        String text = disk.toString();
        return text.contains("/virtual/") || text.contains("/devices/rbd/");
    }

    // --- what the system and udev say ---

    private static Path above(Path folder) { return folder.resolve("..").normalize(); }

    private Optional<String> property(Path system, String name) throws IOException {
        return udevLines(system, "E:" + name + "=").findFirst();
    }

    /** Values that udev keeps of a device. */
    private Stream<String> udevLines(Path system, String prefix) throws IOException {
        Optional<String> number = attribute(system, "dev");
        Path file = udev.resolve("b" + number.orElse(""));
        if (number.isEmpty() || !Files.isReadable(file)) {
            return Stream.empty();
        }
        return Files.readAllLines(file).stream().filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()).strip())
                .filter(value -> !value.isEmpty());
    }

    /** An attribute of a disk; empty if it is missing, empty, or answered with an error. */
    static Optional<String> attribute(Path folder, String name) {
        try {
            Path file = folder.resolve(name);
            return Files.isReadable(file)
                    ? Optional.of(Files.readString(file).strip()).filter(text -> !text.isEmpty())
                    : Optional.empty();
        } catch (IOException _) {
            return Optional.empty(); // a driver answers some of its attributes with an error
        }
    }
}
