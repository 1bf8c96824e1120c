/**
 * Block devices, the common abstraction of stores, LUNs, filters and RAID volumes.
 *
 * <p>Stores (memory, file, disk), LUNs that an initiator has opened, RAID volumes and filters (module
 * {@code lunar.filter}) implement {@link lunar.block.BlockDevice}; a target serves any of them. Errors are
 * {@link lunar.block.StorageException}s, which say whether a retry may help. {@link lunar.block.Devices} opens a device
 * by its URI. {@code lunar.block.spi} is for implementations of devices and filters.
 *
 * <p>Code that expects files gets {@link lunar.block.channel.BlockChannel} (a {@code SeekableByteChannel}) and
 * {@link lunar.block.channel.AsynchronousBlockChannel} (an {@code AsynchronousFileChannel}) over any device, at any
 * byte.
 *
 * <p>Threading: a device may be used by any number of threads at once. A {@link lunar.block.BlockRequest} belongs to
 * one thread until it is submitted to a device, and to the device until its completion runs.
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
