/**
 * Stores of blocks: memory ({@link lunar.store.MemoryDevice}, {@code ram:1GiB}; with
 * {@code ram:1GiB?max=64MiB} it is full once 64 MiB of memory are in use), a file
 * ({@link lunar.store.FileDevice}, {@code file:disk.img?size=1GiB}) or a whole disk ({@code disk:/dev/sdb}).
 *
 * <p>Threading: a memory device does everything on the calling thread. A file or disk executes on the calling
 * thread and runs submitted requests on its own daemon workers, as many as its option {@code workers} says; but
 * reads of up to 64 KiB that the page cache has are done by the submitter, which they do not block (Linux),
 * and with {@code io=direct}, as a disk has, reads and writes of aligned memory go through an io_uring, which one
 * daemon thread serves, where Linux has it (5.7; from 6.1 on it is cheapest) and lets this process use it;
 * {@code ring=false} switches that off.
 *
 * <p>All but disks, which do not know, tell where they have holes ({@link lunar.block.BlockDevice#extent}).
 *
 * <p>Java has no call for holes in files, for exclusive use of a disk, for reads that never wait and for io_uring; they
 * are reached on Linux through {@code java.lang.foreign} where {@code --enable-native-access=lunar.store} allows it.
 * Without it everything works except that files and disks have no UNMAP, zeroes are written instead of punched,
 * files tell no holes and carry no labels: a file is then known by its inode, and keeps no check value of a key.
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
