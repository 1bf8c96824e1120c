/**
 * The metadata that members hold, as immutable values: {@link lunar.raid.metadata.record.VolumeRecord} is the state of
 * a volume, with its {@link lunar.raid.metadata.record.VolumeDescription}, the {@link
 * lunar.raid.metadata.record.MemberRecord} of each member and the {@link lunar.raid.metadata.record.MetadataLayout} of
 * the members; a {@link lunar.raid.metadata.record.SuperblockReading} is what was found on a device, and {@link
 * lunar.raid.metadata.record.OwnerRecord} names the process that uses the volume.
 *
 * <p>Constructors check the rules of docs/raid-format.md. Threading: all types are immutable; nothing here does I/O.
 */
@NullMarked
package lunar.raid.metadata.record;

import org.jspecify.annotations.NullMarked;
