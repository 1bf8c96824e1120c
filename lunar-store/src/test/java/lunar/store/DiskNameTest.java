package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import lunar.block.DeviceRecords;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests names of disks, with a copy of Linux's /sys and udev's /run. */
class DiskNameTest {
    @TempDir
    Path root;
    private Path udev;

    @BeforeEach
    void createUdev() throws IOException { udev = Files.createDirectory(root.resolve("udev")); }

    private Path disk(String folder) throws IOException {
        return Files.createDirectories(root.resolve("sys").resolve(folder));
    }

    private static void put(Path folder, String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text + "\n");
    }

    private DiskName name(Path folder) throws IOException { return name(folder, "machine"); }

    private DiskName name(Path folder, String machine) throws IOException {
        return DiskName.of(folder, udev, machine, machine);
    }

    private Path nvme(String kernelName) throws IOException {
        Path disk = disk("pci0/nvme/" + kernelName);
        put(disk, "wwid", "eui.0025385b71b0a1c2");
        return disk;
    }

    private Path partition(Path disk, String kernelName, int number, int start)
            throws IOException {
        Path partition = Files.createDirectories(disk.resolve(kernelName));
        put(partition, "partition", Integer.toString(number));
        put(partition, "start", Integer.toString(start));
        put(partition, "dev", "259:" + number);
        return partition;
    }

    @Test
    void shouldNotDependOnTheNameThatTheKernelGives() throws IOException {
        assertThat(name(nvme("nvme0n1"))).isEqualTo(name(nvme("nvme1n1")))
                .isEqualTo(new DiskName("eui.0025385b71b0a1c2"));
        Path first = disk("virtual/block/dm-3");
        put(first, "dm/uuid", "LVM-a");
        Path later = disk("virtual/block/dm-5");
        put(later, "dm/uuid", "LVM-a");
        assertThat(name(first)).isEqualTo(name(later));
        put(first, "dm/uuid", "LVM-b");
        assertThat(name(first)).isNotEqualTo(name(later));
    }

    @Test
    void shouldDistinguishADiskFromItsPartitions() throws IOException {
        Path disk = nvme("nvme0n1");
        Path one = partition(disk, "nvme0n1p1", 1, 2048);
        Path two = partition(disk, "nvme0n1p2", 2, 4096);
        assertThat(name(one)).isNotEqualTo(name(disk)).isNotEqualTo(name(two));
        put(udev, "b259:1", "E:ID_PART_ENTRY_UUID=11111111-01");
        put(udev, "b259:2", "E:ID_PART_ENTRY_UUID=11111111-02");
        assertThat(name(one)).isNotEqualTo(name(disk)).isNotEqualTo(name(two));
        assertThat(name(one).isUnique()).isTrue();
    }

    @Test
    void shouldDistinguishAPartitionFromThatOfACopiedDisk() throws IOException {
        Path disk = disk("pci0/host0/block/sda");
        put(disk, "device/wwid", "naa.5000c500a1b2c3d4");
        Path copy = disk("pci0/host1/block/sdb");
        put(copy, "device/wwid", "naa.5000c500ffffffff");
        put(udev, "b259:1", "E:ID_PART_ENTRY_UUID=11111111-01");
        assertThat(name(partition(disk, "sda1", 1, 2048)))
                .isNotEqualTo(name(partition(copy, "sdb1", 1, 2048)));
    }

    @Test
    void shouldDistinguishAPartitionFromThatOfACopiedDiskWithoutAName() throws IOException {
        Path disk = disk("pci0/0000:00:04.0/virtio1/block/vda");
        Path copy = disk("pci0/0000:00:05.0/virtio2/block/vdb");
        put(udev, "b259:3", "E:ID_PART_ENTRY_UUID=11111111-03");
        DiskName name = name(partition(disk, "vda3", 3, 2048));
        assertThat(name.text()).isNotEqualTo(name(partition(copy, "vdb3", 3, 2048)).text())
                .isNotEqualTo(name(disk.resolve("vda3"), "cloned machine").text());
        assertThat(name.isUnique()).isFalse();
        assertThat(name.earlier()).containsExactly("partition 11111111-03");
        put(udev, "b259:3", "E:ID_PART_ENTRY_UUID=22222222-03");
        assertThat(name(disk.resolve("vda3")).text()).as("another disk in the slot")
                .isNotEqualTo(name.text());
    }

    @Test
    void shouldIdentifyADiskByItsMultipathDevice() throws IOException {
        Path path = disk("pci0/host0/block/sda");
        put(path, "device/wwid", "naa.600140512345678");
        Path multipath = disk("virtual/block/dm-0");
        put(multipath, "dm/uuid", "mpath-3600140512345678");
        assertThat(name(multipath)).isEqualTo(name(path));
    }

    /** A device-mapper device above others. */
    private Path mapped(String kernelName, String uuid, Path... slaves) throws IOException {
        Path device = disk("virtual/block/" + kernelName);
        put(device, "dm/uuid", uuid);
        for (Path one : slaves) {
            Path folder = Files.createDirectories(device.resolve("slaves"));
            Files.createSymbolicLink(folder.resolve(one.getFileName()), one);
        }
        return device;
    }

    @ParameterizedTest
    @CsvSource({"device/wwid, eui.0025385b71b0a1c2, 20025385b71b0a1c2",
            "device/wwid, t10.ATA     Disk    S1, 1ATA     Disk S1",
            "device/wwid, iqn.2003-01.org.lunar:disk, 3600140512345678",
            "wwid, eui.0025385b71b0a1c2, eui.0025385b71b0a1c2",
            "wwid, uuid.11111111-2222, uuid.11111111-2222"})
    void shouldIdentifyADiskByItsMultipathDeviceWhateverItsNameIs(String attribute, String wwid,
            String multipath) throws IOException {
        Path path = disk("pci0/host0/block/sda");
        put(path, attribute, wwid);
        DiskName name = name(mapped("dm-0", "mpath-" + multipath, path));
        assertThat(name.text()).isEqualTo(name(path).text());
        String before = multipath.startsWith("3")
                ? "naa." + multipath.substring(1)
                : "dm mpath-" + multipath;
        assertThat(name.earlier()).containsExactly(before);
        if (!wwid.startsWith("t10") && !wwid.startsWith("iqn")) {
            assertThat(name(mapped("dm-1", "mpath-" + multipath)).text()).as("without paths")
                    .isEqualTo(name.text());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"E:ID_PART_ENTRY_UUID=11111111-02", "E:OTHER=1"})
    void shouldIdentifyAPartitionByThatOfItsMultipathDevice(String line) throws IOException {
        Path path = disk("pci0/host0/block/sda");
        put(path, "device/wwid", "naa.600140512345678");
        partition(path, "sda1", 1, 2048);
        Path second = partition(path, "sda2", 2, 4096);
        put(udev, "b259:2", line);
        Path multipath = mapped("dm-0", "mpath-3600140512345678", path);
        Path mapped = mapped("dm-1", "part2-mpath-3600140512345678", multipath);
        put(mapped, "dev", "253:1");
        DiskName name = name(mapped);
        assertThat(name.text()).isEqualTo(name(second).text());
        assertThat(name.earlier()).containsExactly("dm part2-mpath-3600140512345678");
        put(udev, "b253:1", line); // the partition of a path may have been removed
        assertThat(name(mapped).text()).isEqualTo(name.text());
    }

    @Test
    void shouldNotTreatTheSerialOfAVirtualDiskAsGloballyUnique() throws IOException {
        Path disk = disk("pci0/0000:00:04.0/virtio1/block/vda");
        put(disk, "serial", "data");
        assertThat(name(disk)).isNotEqualTo(name(disk, "another machine"));
        assertThat(name(disk).isUnique()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"t10.ATA     QEMU HARDDISK                           QM00003, false",
            "eui.5254000000000001, false",
            "nvme.1b36-64617461-51454d55204e564d65204374726c-1, true"})
    void shouldNotTreatTheNameOfAVirtualDiskAsGloballyUnique(String wwid, boolean isUnique)
            throws IOException {
        Path disk = disk("pci0/host0/block/sda");
        put(disk, "device/wwid", wwid);
        DiskName name = name(disk);
        assertThat(name.text()).isNotEqualTo(name(disk, "another machine").text());
        assertThat(name.isUnique()).isEqualTo(isUnique);
        assertThat(name.earlier()).containsExactly(wwid);
        assertThat(name(partition(disk, "sda1", 1, 2048)).earlier())
                .containsExactly(wwid + " partition 1 at 2048");
    }

    @ParameterizedTest
    @ValueSource(strings = {"t10.ATA     QEMU HARDDISK                           data",
            "eui.5254001234567890", "nvme.144d-53-4d-1"})
    void shouldTreatANameThatSomeoneHasChosenAsUnique(String wwid) throws IOException {
        Path disk = disk("pci0/host0/block/sda");
        put(disk, "device/wwid", wwid);
        assertThat(name(disk)).isEqualTo(new DiskName(wwid));
    }

    @Test
    void shouldIdentifyAnUnnamedDiskByItsSlot() throws IOException {
        DiskName first = name(disk("pci0/0000:00:04.0/virtio1/block/vda"));
        DiskName swapped = name(disk("pci0/0000:00:04.0/virtio2/block/vdb"));
        DiskName other = name(disk("pci0/0000:00:05.0/virtio2/block/vdc"));
        assertThat(first).isEqualTo(swapped).isNotEqualTo(other);
        assertThat(first.isUnique()).isFalse();
        assertThat(name(disk("virtual/block/zram0")))
                .isNotEqualTo(name(disk("virtual/block/zram1")));
    }

    @Test
    void shouldNotIdentifyADeviceByTheNumberThatTheKernelGives() throws IOException {
        Path first = disk("virtual/block/dm-3");
        put(first, "dm/name", "data");
        Path later = disk("virtual/block/dm-5");
        put(later, "dm/name", "data");
        assertThat(name(first).text()).isEqualTo(name(later).text());
        put(first, "dm/name", "logs");
        assertThat(name(first).text()).isNotEqualTo(name(later).text());
        assertThat(name(first).isUnique()).isFalse();

        Path volume = disk("virtual/block/zd0");
        put(volume, "dev", "230:0");
        put(udev, "b230:0", "S:disk/by-uuid/1\nS:zvol/tank/data");
        Path renumbered = disk("virtual/block/zd16");
        put(renumbered, "dev", "230:16");
        put(udev, "b230:16", "S:zvol/tank/data");
        assertThat(name(volume).text()).isEqualTo(name(renumbered).text())
                .isNotEqualTo(name(volume, "another machine").text());
    }

    @ParameterizedTest
    @ValueSource(strings = {"virtual/block/nbd0", "devices/rbd/0/block/rbd0"})
    void shouldNotOutlastABootIfOnlyTheKernelNamesTheDevice(String folder) throws IOException {
        Path disk = disk(folder);
        DiskName name = new DiskNaming(udev, "machine", new UUID(0, 1)).name(disk);
        assertThat(name.text()).isNotEqualTo(
                new DiskNaming(udev, "machine", new UUID(0, 2)).name(disk).text());
        assertThat(name.isUnique()).isFalse();
        assertThat(name.earlier()).containsExactly("machine:" + disk.toRealPath());
    }

    @Test
    void shouldNotBeUniqueOnAMachineWithoutAnIdentifier() throws IOException {
        Path virtio = disk("pci0/0000:00:04.0/virtio1/block/vda");
        put(virtio, "serial", "data");
        Path slot = disk("pci0/0000:00:05.0/virtio2/block/vdb");
        Path loop = disk("virtual/block/loop0");
        put(loop, "loop/backing_file", udev.toString());
        Path table = disk("virtual/block/dm-0");
        put(table, "dm/name", "data");
        for (Path one : List.of(virtio, slot, loop, table)) {
            assertThat(name(one, "").doubt()).contains("/etc/machine-id");
            assertThat(name(one, "machine").doubt()).doesNotContain("/etc/machine-id");
            assertThat(DiskName.of(one, udev, "", "kept").earlier())
                    .as("the identity that hosts know").contains(name(one, "").text());
        }
        assertThat(name(nvme("nvme0n1"), "").isUnique()).isTrue();
    }

    @Test
    void shouldGiveAMachineWithoutAnIdentifierOneInTheRecords() throws IOException {
        Path file = root.resolve("machine-id");
        var records = new ServedRecords();
        String own = Machine.id(file, records);
        assertThat(own).isNotEmpty().isNotEqualTo(Machine.id(file, new ServedRecords()));
        Files.writeString(file, "uninitialized\n");
        assertThat(Machine.id(file, DeviceRecords.NONE)).isEmpty();
        Files.writeString(file, "0123456789abcdef0123456789abcdef\n");
        assertThat(Machine.id(file, records)).as("once made").isEqualTo(own);
        assertThat(Machine.id(file, new ServedRecords()))
                .isEqualTo("0123456789abcdef0123456789abcdef");
    }

    @Test
    void shouldIdentifyAnArrayByItsUuid() throws IOException {
        Path array = disk("virtual/block/md127");
        put(array, "md/level", "raid1");
        put(array, "dev", "9:127");
        put(udev, "b9:127", "E:MD_UUID=aaaa:bbbb:cccc:dddd");
        assertThat(name(array)).isEqualTo(new DiskName("md aaaa:bbbb:cccc:dddd"));
    }

    @Test
    void shouldTreatAnUnreadableNameAsNoneInTheIdentityOfEarlierVersions(
            @TempDir Path unreadable) throws Exception {
        Files.createDirectories(unreadable.resolve("device/wwid")); // reading it is an error
        assertThat(DiskDevice.legacy(Path.of("/dev/sdx"), unreadable))
                .isEqualTo(DiskIdentity.uuid("/dev/sdx"));
    }
}
