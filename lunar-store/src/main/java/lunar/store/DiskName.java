package lunar.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Identifies a disk or a partition, from Linux's {@code /sys/class/block} and udev's database: a world-wide name, the
 * UUID of a device-mapper or md device, a partition's UUID on its disk. Device names are not used, because they change
 * at boot.
 *
 * @param text the name
 * @param isUnique false if the disk has no unique name, and this is its position in the machine
 */
record DiskName(String text, boolean isUnique) {
    private static final Path UDEV = Path.of("/run/udev/data");

    /** The name of a disk or partition, by its folder in {@code /sys/class/block}. */
    static DiskName of(Path system) throws IOException {
        return of(system, UDEV, Machine.id());
    }

    static DiskName of(Path system, Path udev, String machine) throws IOException {
        Optional<String> unique = Files.exists(system.resolve("partition"))
                ? partition(system, udev, machine)
                : whole(system, udev, machine);
        return unique.map(text -> new DiskName(text, true))
                .orElse(new DiskName(machine + ":" + place(system, udev), false));
    }

    /** A disk that was copied has partitions with the same UUIDs, so the disk counts, too. */
    private static Optional<String> partition(Path system, Path udev, String machine)
            throws IOException {
        Optional<String> disk = whole(above(system.toRealPath()), udev, machine);
        Optional<String> uuid = property(system, udev, "ID_PART_ENTRY_UUID");
        if (disk.isEmpty()) {
            return uuid.map(one -> "partition " + one);
        }
        String on = uuid.isPresent()
                ? uuid.get()
                : attribute(system, "partition").orElse("") + " at "
                        + attribute(system, "start").orElse("");
        return Optional.of(disk.get() + " partition " + on);
    }

    private static Optional<String> whole(Path system, Path udev, String machine)
            throws IOException {
        if (Files.exists(system.resolve("dm"))) {
            return attribute(system, "dm/uuid").map(DiskName::deviceMapper);
        }
        if (Files.exists(system.resolve("md"))) {
            Optional<String> uuid = property(system, udev, "MD_UUID");
            return uuid.or(() -> attribute(system, "md/uuid")).map(one -> "md " + one);
        }
        if (Files.exists(system.resolve("loop"))) {
            return loop(system, machine);
        }
        return attribute(system, "device/wwid") // SCSI
                .or(() -> attribute(system, "wwid")) // NVMe
                .or(() -> attribute(system, "device/cid").map(cid -> "mmc " + cid))
                // The serial number of a virtual disk is arbitrary.
                .or(() -> attribute(system, "serial").map(one -> machine + " virtio " + one));
    }

    /** A multipath device is the disk that its paths lead to: 3 stands for an NAA name. */
    private static String deviceMapper(String uuid) {
        return uuid.startsWith("mpath-3")
                ? "naa." + uuid.substring("mpath-3".length())
                : "dm " + uuid;
    }

    /** The file, and which part of it; its path alone may be that of another file tomorrow. */
    private static Optional<String> loop(Path system, String machine) throws IOException {
        Optional<String> file = attribute(system, "loop/backing_file");
        if (file.isEmpty() || !Files.exists(Path.of(file.get()))) {
            return Optional.empty();
        }
        return Optional.of(machine + " loop " + file.get() + " "
                + Files.getAttribute(Path.of(file.get()), "unix:ino") + " "
                + attribute(system, "loop/offset").orElse("0") + " "
                + attribute(system, "loop/sizelimit").orElse("0"));
    }

    /** The bus and slot of the disk, without its name; and which partition. */
    private static String place(Path system, Path udev) throws IOException {
        Path real = system.toRealPath();
        Optional<String> number = attribute(system, "partition");
        Path disk = number.isPresent() ? above(real) : real;
        String bus = property(disk, udev, "ID_PATH").orElseGet(() -> {
            String text = above(disk).toString().replaceFirst("/virtio\\d+(/|$)", "/");
            return text.endsWith("/block") && !text.contains("/virtual/") ? text : disk.toString();
        });
        return bus + number.map(one -> " partition " + one).orElse("");
    }

    private static Path above(Path folder) { return folder.resolve("..").normalize(); }

    private static Optional<String> property(Path system, Path udev, String name)
            throws IOException {
        Optional<String> number = attribute(system, "dev");
        Path file = udev.resolve("b" + number.orElse(""));
        if (number.isEmpty() || !Files.isReadable(file)) {
            return Optional.empty();
        }
        String prefix = "E:" + name + "=";
        return Files.readAllLines(file).stream().filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()).strip())
                .filter(value -> !value.isEmpty()).findFirst();
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
