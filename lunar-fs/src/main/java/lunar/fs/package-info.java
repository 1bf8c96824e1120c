/**
 * Lists and reads the files on a block device without mounting it: a LUN, an image, or any other device with a URI.
 * {@link lunar.fs.PartitionTable} finds the volumes of a device, {@link lunar.fs.FileSystemView} reads one.
 *
 * {@snippet :
 * try (BlockDevice disk = Devices.open("iscsi://san.example.org/iqn.2026-11.org.example:disk/0")) {
 *     Volume volume = PartitionTable.read(disk).volumes().getFirst();
 *     FileSystemView files = FileSystemView.open(disk, volume);
 *     for (DirectoryEntry entry : files.list("/etc")) {
 *         System.out.println(entry.name() + " " + files.node(entry).sizeBytes());
 *     }
 *     try (InputStream in = files.newInputStream(files.find("/etc/hostname"))) {
 *         in.transferTo(System.out);
 *     }
 * }
 * }
 *
 * <p><b>Supported formats.</b> Partition tables: MBR with extended partitions, GPT with its checksums and its backup.
 * FAT12, FAT16 and FAT32 with long names. ext2, ext3 and ext4 with extents or block maps, directories with or without a
 * hash tree, data in the inode, 64-bit block numbers, flexible and meta block groups, sparse files, symbolic links.
 * Others are rejected by name: other file systems, encrypted files.
 *
 * <p><b>Read-only.</b> Only reads are submitted. A journal with changes is not replayed: the view reports it in its
 * notices and shows the blocks as they are.
 *
 * <p><b>Images are hostile.</b> Every offset, length and count is checked against a limit and the size of the volume
 * before data is read or memory is allocated; chains and trees are bounded, so loops in them end. A violation of the
 * format is a {@link lunar.fs.CorruptException}, never another exception. The directory tree of a hostile image may be
 * endless, so a caller that descends must bound the depth.
 *
 * <p><b>Memory.</b> A view caches a few MiB of blocks; files are streamed. It does not detect concurrent writes to the
 * device, and may then show inconsistent data: open another view for the current state, which is cheap.
 *
 * <p><b>Threads.</b> All types are thread-safe, except streams and channels. Calls block for the device's reads. A view
 * owns no resources: the caller closes the device, after which views and channels fail with
 * {@link lunar.block.DeviceGoneException}.
 */
@NullMarked
package lunar.fs;

import org.jspecify.annotations.NullMarked;
