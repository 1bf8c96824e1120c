package lunar.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    private DiskName name(Path folder) throws IOException {
        return DiskName.of(folder, udev, "machine");
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
                .isEqualTo(new DiskName("eui.0025385b71b0a1c2", true));
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
    void shouldIdentifyADiskByItsMultipathDevice() throws IOException {
        Path path = disk("pci0/host0/block/sda");
        put(path, "device/wwid", "naa.600140512345678");
        Path multipath = disk("virtual/block/dm-0");
        put(multipath, "dm/uuid", "mpath-3600140512345678");
        assertThat(name(multipath)).isEqualTo(name(path));
    }

    @Test
    void shouldNotTreatTheSerialOfAVirtualDiskAsGloballyUnique() throws IOException {
        Path disk = disk("pci0/0000:00:04.0/virtio1/block/vda");
        put(disk, "serial", "data");
        assertThat(name(disk)).isNotEqualTo(DiskName.of(disk, udev, "another machine"));
        assertThat(name(disk).isUnique()).isTrue();
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
    void shouldIdentifyAnArrayByItsUuid() throws IOException {
        Path array = disk("virtual/block/md127");
        put(array, "md/level", "raid1");
        put(array, "dev", "9:127");
        put(udev, "b9:127", "E:MD_UUID=aaaa:bbbb:cccc:dddd");
        assertThat(name(array)).isEqualTo(new DiskName("md aaaa:bbbb:cccc:dddd", true));
    }

    @Test
    void shouldTreatAnUnreadableNameAsNoneInTheIdentityOfEarlierVersions(
            @TempDir Path unreadable) throws Exception {
        Files.createDirectories(unreadable.resolve("device/wwid")); // reading it is an error
        assertThat(DiskDevice.legacy(Path.of("/dev/sdx"), unreadable))
                .isEqualTo(DiskIdentity.uuid("/dev/sdx"));
    }
}
