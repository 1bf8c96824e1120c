package lunar.raid.service;

import java.util.Optional;
import java.util.UUID;
import lunar.block.BlockDevice;
import lunar.block.BusyException;
import lunar.block.DeviceUri;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.raid.SlotState;
import lunar.raid.metadata.Creation;
import lunar.raid.metadata.VolumeMetadata;
import lunar.raid.metadata.record.MemberRecord;
import lunar.raid.metadata.record.Superblock;
import lunar.raid.metadata.record.SuperblockReading;
import lunar.raid.metadata.record.VolumeRecord;
import lunar.raid.metadata.superblock.SuperblockStore;

/**
 * Decides whether a device may become a member or a spare of a running volume, which destroys what is on it. A device
 * may have several URIs: what it is to a volume is in its superblock and its owner record.
 */
final class NewDeviceCheck {
    private NewDeviceCheck() {}

    /**
     * Requires that a device is free. Blocks: with {@code force}, the record of an owner that may be alive is watched
     * for some seconds.
     *
     * @param force whether what is on the device may be destroyed; never if a running volume uses it
     * @throws InvalidRequestException if the volume itself uses the device, or something is on it; one line
     * @throws BusyException if another volume that runs has the device; one line
     */
    static void require(VolumeMetadata metadata, String uri, BlockDevice device, boolean force)
            throws StorageException {
        String shown = DeviceUri.withoutSecret(uri);
        requireUnused(metadata, shown, device);
        if (force) {
            VolumeOwner.requireNoOther(metadata.record().description().uuid(), shown, device);
            return;
        }
        Optional<String> occupant = Creation.occupant(device);
        if (occupant.isPresent()) {
            throw new InvalidRequestException(shown + " has " + occupant.get()
                    + ", which would be destroyed: name another device, or force it");
        }
    }

    private static void requireUnused(VolumeMetadata metadata, String shown, BlockDevice device)
            throws InvalidRequestException {
        VolumeRecord record = metadata.record();
        if (!(new SuperblockStore(device)
                .read() instanceof SuperblockReading.Found(Superblock found))
                || !found.volume().description().uuid().equals(record.description().uuid())) {
            return;
        }
        UUID member = found.memberUuid();
        for (int slot = 0; slot < record.description().slots(); slot++) {
            MemberRecord entry = record.members().get(slot);
            if (entry.uuid().equals(member) && entry.state() != SlotState.FAILED) {
                throw new InvalidRequestException(shown + " is the member of slot " + slot
                        + " under another URI: name another device");
            }
        }
        boolean isSpare = record.spares().stream().anyMatch(one -> one.uuid().equals(member))
                && metadata.spares().stream()
                        .noneMatch(one -> one.uuid().equals(member) && one.isAway());
        if (isSpare) {
            throw new InvalidRequestException(shown + " is a spare of the volume under another"
                    + " URI: name another device, or remove the spare first");
        }
    }
}
