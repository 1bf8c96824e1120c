/**
 * Lists and reads the files on a block device, without mounting it: a LUN, an image, whatever has a device URI.
 * {@link lunar.fs.PartitionTable} finds the volumes of a device, {@link lunar.fs.FileSystemView} looks into one.
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
 * <p><b>What is read.</b> Partition tables: MBR with extended partitions, GPT with its checksums and its backup. FAT12,
 * FAT16 and FAT32 with long names. ext2, ext3 and ext4 with extents or block maps, directories with or without a hash
 * tree, data in the inode, 64-bit block numbers, flexible and meta block groups, sparse files, symbolic links. What
 * cannot be read is refused by name: other file systems, encrypted files.
 *
 * <p><b>Nothing is written.</b> No method submits anything but reads. A journal that holds changes is left alone: the
 * view says so in its notices and shows the blocks as they are.
 *
 * <p><b>Images are hostile.</b> Every offset, length and count is checked against a limit and the size of the volume
 * before something is read or memory is taken; chains and trees are bounded, so a loop in them ends. What breaks the
 * rules of the format is a {@link lunar.fs.CorruptException}, never another exception. One thing is left to callers:
 * the tree of directories of a hostile image may be endless, so a caller that descends must bound the depth.
 *
 * <p><b>Memory.</b> A view keeps a few MiB of blocks that were read; files are streamed. It does not see what others
 * write to the device meanwhile, and may show a mixture then: open another view for a fresh look, which is cheap.
 *
 * <p><b>Threads.</b> All types may be used by any number of threads at once, but for streams and channels, which are
 * for one thread at a time. Calls block for the time of the device's reads. A view owns nothing: the caller closes the
 * device, after which views and channels fail with {@link lunar.block.DeviceGoneException}.
 */
@NullMarked
package lunar.fs;

import org.jspecify.annotations.NullMarked;
