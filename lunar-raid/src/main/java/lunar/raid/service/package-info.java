/**
 * Runs RAID volumes: the shell with a clock and threads around the engine and the metadata, which have neither.
 *
 * <p>{@link lunar.raid.service.RunningVolume} opens the members that a {@link lunar.raid.service.VolumeSpec} names,
 * puts the volume together, recovers from a crash or an absence (replay, resync, rebuild, return of a member), and
 * keeps doing so until it is closed, which stops it in order. It is a {@link lunar.block.BlockDevice}; as a URI it is
 * {@code raid5:NAME?member=URI&member=URI...} ({@link lunar.raid.service.RaidProvider}). Events are logged, and
 * reported as {@link lunar.raid.service.VolumeEvent}s; {@link lunar.raid.service.VolumeStatus} is its state.
 * Operators change it by {@link lunar.raid.service.VolumeRequest}s.
 *
 * <p>Threads: each volume has a timer, and short-lived ones for what may block. Any thread may use a volume.
 *
 * {@snippet :
 * try (BlockDevice volume = Devices.open("raid1:music?member=file:a.img&member=iscsi://host/iqn/0")) {
 *     volume.read(0, buffer);
 * }
 * }
 */
@NullMarked
package lunar.raid.service;

import org.jspecify.annotations.NullMarked;
