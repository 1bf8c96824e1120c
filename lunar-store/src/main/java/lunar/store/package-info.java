/**
 * Stores of blocks: memory ({@link lunar.store.MemoryDevice}, {@code ram:1GiB}; with {@code ram:1GiB?max=64MiB} it is
 * full when it uses 64 MiB of memory), a file ({@link lunar.store.FileDevice}, {@code file:disk.img?size=1GiB}) or a
 * whole disk ({@code disk:/dev/sdb}).
 *
 * <p>Threading: a memory device executes everything on the calling thread. A file or disk executes on the calling
 * thread and runs submitted requests on its own daemon workers, whose number is the option {@code workers}; but reads
 * of up to 64 KiB from the page cache run on the submitting thread without blocking it (Linux), and with
 * {@code io=direct}, the default of disks, reads and writes of aligned memory use an io_uring, served by one daemon
 * thread, if Linux supports it (since 5.7; cheapest since 6.1) and permits it to this process; {@code ring=false}
 * disables that.
 *
 * <p>All except disks, which do not know them, report their holes ({@link lunar.block.BlockDevice#extent}).
 *
 * <p>Java has no API for holes in files, exclusive use of a disk, non-blocking reads and io_uring; on Linux they are
 * called through {@code java.lang.foreign} if {@code --enable-native-access=lunar.store} permits it. Without it, which
 * is logged once at INFO, files and disks have no UNMAP, zeroes are written rather than punched, files report no holes
 * and have no labels: a file is then identified by its inode, and stores no check value of a key.
 *
 * {@snippet :
 * try (BlockDevice disk = FileDevice.open(Path.of("disk.img"), FileOptions.BUFFERED.withCreateBytes(1L << 30));
 *         BlockDevice scratch = MemoryDevice.create(1L << 40, 4096)) {
 *     disk.writeZeroes(0, 8);
 * }
 * }
 */
@NullMarked
package lunar.store;

import org.jspecify.annotations.NullMarked;
