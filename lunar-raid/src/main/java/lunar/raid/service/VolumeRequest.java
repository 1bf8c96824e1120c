package lunar.raid.service;

import java.util.OptionalInt;
import java.util.OptionalLong;
import lunar.block.DeviceUri;
import lunar.block.Devices;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;

/**
 * A change of a running volume that an operator requests, on the command line, over the control socket or the admin
 * API. {@link Object#toString} returns a phrase for the audit log, without secrets.
 *
 * <p>The names of devices and slots are checked when a request is created: 1 to {@value #MAX_NAME_LENGTH} characters,
 * no control characters, and no device without its lock; otherwise an {@link IllegalArgumentException} has one line for
 * the operator.
 */
public sealed interface VolumeRequest {
    /** Characters of the longest name of a device. */
    int MAX_NAME_LENGTH = 4096;

    /**
     * Applies the change. Blocks until it is stable, for as long as devices take to open; scans that it begins run in
     * the background. The calling thread must not be interrupted, since interrupts close files.
     *
     * @return the slot that has changed; empty if the request is not about a slot
     * @throws StorageException if the volume refuses it or it fails; the message is one line for the operator
     * @throws IllegalArgumentException if the URI of a device is wrong; the message is one line for the operator
     */
    OptionalInt applyTo(RunningVolume volume) throws StorageException;

    /**
     * Takes a member out, until it is added again or another device replaces it.
     *
     * @param slot the slot's number, or the URI of its member
     */
    record Fail(String slot) implements VolumeRequest {
        public Fail {
            requireName(slot, "the slot");
        }

        @Override
        public OptionalInt applyTo(RunningVolume volume) throws StorageException {
            int number = volume.slot(slot);
            volume.fail(number);
            return OptionalInt.of(number);
        }

        @Override
        public String toString() { return "fail slot " + DeviceUri.withoutSecret(slot); }
    }

    /**
     * Takes back a member that is out, or makes a device a spare.
     *
     * @param name the URI of the device, or the number of a slot
     * @param force whether the data on a new spare may be destroyed
     */
    record Add(String name, boolean force) implements VolumeRequest {
        public Add {
            requireName(name, "the device");
        }

        @Override
        public OptionalInt applyTo(RunningVolume volume) throws StorageException {
            return volume.add(name, force);
        }

        @Override
        public String toString() { return "add " + DeviceUri.withoutSecret(name) + forced(force); }
    }

    /**
     * Removes a spare.
     *
     * @param name its URI or UUID
     */
    record Remove(String name) implements VolumeRequest {
        public Remove {
            requireName(name, "the spare");
        }

        @Override
        public OptionalInt applyTo(RunningVolume volume) throws StorageException {
            volume.remove(name);
            return OptionalInt.empty();
        }

        @Override
        public String toString() { return "remove " + DeviceUri.withoutSecret(name); }
    }

    /**
     * Puts another device in a slot and begins to rebuild it.
     *
     * @param slot the slot's number, or the URI of its member
     * @param uri the device
     * @param force whether the data on the device may be destroyed
     */
    record Replace(String slot, String uri, boolean force) implements VolumeRequest {
        public Replace {
            requireName(slot, "the slot");
            requireName(uri, "the device");
        }

        @Override
        public OptionalInt applyTo(RunningVolume volume) throws StorageException {
            int number = volume.slot(slot);
            volume.replace(number, uri, force);
            return OptionalInt.of(number);
        }

        @Override
        public String toString() {
            return "replace slot " + DeviceUri.withoutSecret(slot) + " by "
                    + DeviceUri.withoutSecret(uri) + forced(force);
        }
    }

    /**
     * Adds a member.
     *
     * @param uri the device
     * @param force whether the data on the device may be destroyed
     */
    record Grow(String uri, boolean force) implements VolumeRequest {
        public Grow {
            requireName(uri, "the device");
        }

        @Override
        public OptionalInt applyTo(RunningVolume volume) throws StorageException {
            return OptionalInt.of(volume.grow(uri, force));
        }

        @Override
        public String toString() {
            return "grow by " + DeviceUri.withoutSecret(uri) + forced(force);
        }
    }

    /**
     * Begins a scrub; has no effect while one is under way.
     *
     * @param repair whether mismatches are repaired
     * @param bytesPerSecond limit on each member, 0 for none; the volume's own limit if empty
     */
    record Scrub(boolean repair, OptionalLong bytesPerSecond) implements VolumeRequest {
        public Scrub {
            if (bytesPerSecond.isPresent()) {
                RunOptions.requireRate(bytesPerSecond.getAsLong());
            }
        }

        /** @throws InvalidRequestException if a volume has nothing to compare */
        public static void requireRedundancy(VolumeSpec spec) throws InvalidRequestException {
            if (!spec.level().isRedundant()) {
                throw new InvalidRequestException(spec.title() + " has no redundancy to compare: "
                        + spec.level() + " stores each block once");
            }
        }

        @Override
        public OptionalInt applyTo(RunningVolume volume) throws StorageException {
            requireRedundancy(volume.spec());
            boolean _ = bytesPerSecond.isPresent()
                    ? volume.scrub(repair, bytesPerSecond.getAsLong())
                    : volume.scrub(repair);
            return OptionalInt.empty();
        }

        @Override
        public String toString() {
            return "scrub" + (repair ? " with repair" : "") + (bytesPerSecond.isPresent()
                    ? " at " + bytesPerSecond.getAsLong() + " bytes per second"
                    : "");
        }
    }

    /** Cancels the scrub that is under way; has no effect if there is none. */
    record CancelScrub() implements VolumeRequest {
        @Override
        public OptionalInt applyTo(RunningVolume volume) {
            volume.cancelScrub();
            return OptionalInt.empty();
        }

        @Override
        public String toString() { return "cancel the scrub"; }
    }

    /** Retries at once what recovery is outstanding, see {@link RunningVolume#retryRecovery}. */
    record Rebuild() implements VolumeRequest {
        @Override
        public OptionalInt applyTo(RunningVolume volume) {
            volume.retryRecovery();
            return OptionalInt.empty();
        }

        @Override
        public String toString() { return "rebuild"; }
    }

    private static String forced(boolean force) { return force ? ", by force" : ""; }

    private static void requireName(String name, String what) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException(what + " is not specified");
        }
        if (name.length() > MAX_NAME_LENGTH) {
            throw new IllegalArgumentException("the name of " + what + " is longer than "
                    + MAX_NAME_LENGTH + " characters");
        }
        if (name.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("the name of " + what
                    + " has a control character, such as a line break");
        }
        Devices.requireLock(name);
    }
}
