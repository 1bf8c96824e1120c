/**
 * Block devices: the one abstraction on which everything in Lunar stands.
 *
 * <p>{@link lunar.block.BlockDevice} is implemented by stores (memory, file, disk), by a LUN that the
 * initiator opened, by RAID volumes and by filters (module {@code lunar.filter}), and it is what the target serves.
 * Errors are {@link lunar.block.StorageException}s and say whether a retry makes sense. {@link lunar.block.Devices}
 * opens a device by its URI; {@code lunar.block.spi} has the interfaces of modules that provide devices and filters.
 *
 * <p>Code that expects files gets {@link lunar.block.channel.BlockChannel} (a {@code SeekableByteChannel}) and
 * {@link lunar.block.channel.AsynchronousBlockChannel} (an {@code AsynchronousFileChannel}) over any device, at any
 * byte.
 *
 * <p>Threading: a device may be used by any number of threads at once. A {@link lunar.block.BlockRequest}
 * belongs to one thread until it is handed to a device, and to the device until its completion runs.
 *
 * {@snippet :
 * try (BlockDevice disk = Devices.open("file:disk.img?size=1GiB"); Arena arena = Arena.ofConfined()) {
 *     MemorySegment buffer = arena.allocate(8L * disk.blockSize(), 4096);
 *     disk.read(0, buffer);
 *     disk.write(8, buffer);
 *     disk.flush();
 * }
 * }
 */
@NullMarked
package lunar.block;

import org.jspecify.annotations.NullMarked;
