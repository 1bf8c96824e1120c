package lunar.raid.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.DeviceUri;
import lunar.block.InvalidRequestException;
import lunar.block.Size;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.layout.Layout;
import lunar.raid.layout.Level;
import lunar.raid.layout.ReshapeMap;
import lunar.raid.layout.Shape;
import lunar.raid.metadata.Composition.Resync;
import lunar.raid.metadata.Composition.Slot;
import lunar.raid.metadata.Composition.Use;
import lunar.raid.metadata.bitmap.IntentBitmap;
import lunar.raid.metadata.journal.VolumeJournal;
import lunar.raid.metadata.record.Consistency;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.ReshapeRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.VolumeDescription;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.SuperblockStore;
import org.jspecify.annotations.Nullable;

/**
 * Adds a member to a volume that is in use: a linear one has its blocks behind all others, a mirror one copy more,
 * which is to be rebuilt. Other levels get a layout over one member more, into which all blocks are to be moved ({@code
 * RaidVolume.reshape}), and more blocks at the end of that. The volume and its metadata are paused ({@code
 * RaidVolume.pause}, {@link VolumeMetadata#pause}); the volume goes on with the result ({@code RaidVolume.resume}).
 *
 * <p><b>Crashes.</b> The new member is the first to record the growth, when it has all that belongs on it. So after a
 * crash at any moment the volume has grown where the new member is there and its superblock was stable, and is as it
 * was otherwise.
 *
 * <p><b>The intent bitmap</b> begins without a bit where it has more regions than before: all that was written is
 * stable on all members by then ({@link VolumeMetadata#pause}). Otherwise its old bits stand for the same stripes, also
 * in RAID 10, where a stripe is one chunk of the volume.
 */
public final class Growth {
    private Growth() {}

    /**
     * Whether a volume can have one member more, now.
     *
     * @throws InvalidRequestException where it cannot; one line that says what to do
     */
    public static void check(VolumeMetadata volume, String uri, BlockDevice device)
            throws InvalidRequestException {
        plan(volume, uri, device, new UUID(1, 1));
    }

    /**
     * Does it. What is on the device is destroyed. Blocks.
     *
     * @param uuid a random UUID
     * @param faults as for {@link VolumeMetadata#open}
     * @return the metadata from now on; those of before are not to be used any more
     * @throws StorageException where a member fails: the volume must be put together anew then
     */
    public static VolumeMetadata grow(VolumeMetadata volume, String uri, BlockDevice device,
            UUID uuid, FaultListener faults) throws StorageException {
        VolumeRecord grown = plan(volume, uri, device, uuid);
        int index = grown.description().slots() - 1;
        Creation.clear(device, grown.description().layout());
        Creation.writePages(grown, index, device);
        new SuperblockStore(device).write(new Superblock(1, index, grown));
        var slots = new ArrayList<Slot>();
        var devices = new ArrayList<@Nullable BlockDevice>();
        for (int slot = 0; slot < index; slot++) {
            slots.add(new Slot(Use.IN_SYNC, OptionalInt.empty(), ""));
            devices.add(volume.raidMembers().get(slot).device());
        }
        boolean isMirror = grown.description().level() == Level.RAID1;
        slots.add(new Slot(isMirror ? Use.REBUILDING : Use.IN_SYNC, OptionalInt.empty(), ""));
        devices.add(device);
        var spares = new ArrayList<@Nullable BlockDevice>();
        var away = new ArrayList<OptionalInt>();
        for (MemberRecord spare : grown.spares()) {
            spares.add(volume.spareDevice(spare.uuid()));
            away.add(OptionalInt.empty());
        }
        var composition = new Composition(grown, slots, away, List.of(), Resync.NONE);
        VolumeJournal journal = volume.journal();
        return VolumeMetadata.open(composition,
                new VolumeDevices(devices, spares, journal == null ? null : journal.device()),
                volume.options(), faults);
    }

    private static VolumeRecord plan(VolumeMetadata volume, String uri, BlockDevice device,
            UUID uuid) throws InvalidRequestException {
        VolumeRecord now = volume.record();
        VolumeDescription what = now.description();
        boolean isLinear = what.level() == Level.LINEAR;
        boolean isMirror = what.level() == Level.RAID1;
        boolean turns = !isLinear && !isMirror;
        if (turns) {
            requireReshape(volume, what);
        }
        if (!volume.isWhole() || volume.resyncedStripes().isPresent()) {
            throw new InvalidRequestException("volume " + what.title()
                    + " is degraded, or being compared: wait until it is whole");
        }
        if (now.members().size() >= Superblock.MAX_MEMBERS) {
            throw new InvalidRequestException("volume " + what.title() + " has "
                    + Superblock.MAX_MEMBERS + " members and spares: it takes no more");
        }
        long room = what.layout().dataBlocks(device.sizeBytes(), what.blockSize());
        long needed = isLinear ? what.chunkBlocks() : now.members().getFirst().dataBlocks();
        if (device.blockSize() != what.blockSize() || room < needed) {
            throw new InvalidRequestException(DeviceUri.withoutSecret(uri) + " has "
                    + Size.format(device.sizeBytes()) + " in blocks of " + device.blockSize()
                    + " bytes; volume " + what.title()
                    + " needs at least "
                    + Size.format(what.layout().dataBytes() + needed * what.blockSize())
                    + " in blocks of " + what.blockSize());
        }
        var table = new ArrayList<>(now.members().subList(0, what.slots()));
        table.add(isMirror
                ? new MemberRecord(uuid, SlotState.REBUILDING, needed, 0)
                : MemberRecord.active(uuid,
                        isLinear ? room / what.chunkBlocks() * what.chunkBlocks() : needed));
        Shape shape = new Shape(what.level(), what.blockSize(), what.chunkBlocks(),
                table.stream().map(MemberRecord::dataBlocks).toList());
        table.addAll(now.spares());
        Layout layout = Layout.of(shape);
        long blocks = isLinear ? layout.volumeBlocks() : what.volumeBlocks();
        VolumeDescription grown = what.grown(what.slots() + 1, blocks);
        if (what.consistency() != Consistency.NONE) {
            grown = grown.withRegionStripes(IntentBitmap
                    .regionStripes(layout.stripes(), what.regionStripes()));
        }
        return new VolumeRecord(grown, now.events(), now.clean(),
                now.resyncNext(), now.coveredSince(), table,
                turns ? new ReshapeRecord(what.slots(), 0, 0) : null).next();
    }

    private static void requireReshape(VolumeMetadata volume, VolumeDescription what)
            throws InvalidRequestException {
        String why = null;
        int step = ReshapeMap.step(what.level(), what.slots() + 1);
        long chunkBytes = (long) what.chunkBlocks() * what.blockSize();
        long mostBytes = (long) ReshapeRecord.stagingBlocks(what) * what.blockSize() / step;
        if (volume.record().reshape() != null) {
            why = "is being reshaped: wait for the end";
        } else if (!ReshapeRecord.canBe(what)) {
            why = "is " + what.level() + " without a journal: it cannot have one member more";
        } else if (what.layout().hasChecksums()) {
            why = "has checksums: it cannot have one member more yet";
        } else if (chunkBytes > mostBytes) {
            why = "has chunks of " + Size.format(chunkBytes) + ": only with chunks of up to "
                    + Size.format(Long.highestOneBit(mostBytes)) + " it can have "
                    + (step > 1 ? "an odd number of members" : "one member more");
        } else if (!volume.badBlocks().ranges().isEmpty()) {
            why = "has blocks that cannot be read: write them first";
        } else if (what.journalDevice() != null && isGone(volume.journal())) {
            why = "has its journal on a device that has failed: stop it, and give it another one";
        } else if (volume.maxBytes() < (what.slots() + 1) * what.blockSize()) {
            why = "has a journal that is too small for one member more";
        }
        if (why != null) {
            throw new InvalidRequestException("volume " + what.title() + " " + why);
        }
    }

    private static boolean isGone(@Nullable VolumeJournal journal) {
        return journal == null || journal.device() == null;
    }
}
