/**
 * iRAID: a volume out of several block devices, its members: linear, RAID 0, 1, 5, 6 and 10.
 *
 * <p>A <i>member</i> is a {@link lunar.block.BlockDevice} at an index, its <i>slot</i>: a LUN that the initiator
 * opened, a file, memory, another volume. The location of each block of the volume, and what is read, computed and
 * written for a request, is determined by {@link lunar.raid.layout}, which does no I/O.
 *
 * <p>{@link lunar.raid.Raid} creates a {@link lunar.raid.RaidVolume}, which is a BlockDevice. For stable state besides
 * the data it uses a {@link lunar.raid.WriteGuard} before each change of a stripe, a {@link lunar.raid.StateKeeper}
 * when a slot has failed, {@link lunar.raid.BadBlockList} before each read; {@link lunar.raid.metadata} implements
 * these. A {@link lunar.raid.BackgroundScan} goes over all stripes concurrently with reads and writes: rebuild, resync,
 * scrub. {@link lunar.raid.service} runs volumes: it adds the clock and the threads that all of the above do without.
 *
 * <p>Threading: nothing here has a thread, a clock or a sleep. Work goes on where members complete requests, so a
 * volume over single-threaded members is single-threaded, and a simulation of it replays exactly.
 *
 * {@snippet :
 * Shape shape = Shape.of(Level.RAID5, 4096, 16, 4, memberBlocks);
 * try (RaidVolume volume = Raid.volume(shape, members)) {
 *     volume.write(0, data);
 *     volume.fail(2, new DeviceGoneException("pulled"));
 *     volume.read(0, data);
 *     Rebuild rebuild = volume.replace(2, spare, 0, ScanOptions.DEFAULT);
 * }
 * }
 */
@NullMarked
package lunar.raid;

import org.jspecify.annotations.NullMarked;
