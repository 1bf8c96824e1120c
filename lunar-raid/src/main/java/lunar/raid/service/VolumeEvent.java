package lunar.raid.service;

import java.util.OptionalInt;
import lunar.block.DeviceUri;

/** An event of a running volume. {@link Object#toString} returns one line for the operator. */
public sealed interface VolumeEvent {
    /** Returns the severity for the operator. */
    default System.Logger.Level level() {
        return System.Logger.Level.INFO;
    }

    /**
     * The volume is ready for use.
     *
     * @param health its health
     * @param replayed entries of the journal that were written in place
     */
    record Started(VolumeHealth health, int replayed) implements VolumeEvent {
        @Override
        public System.Logger.Level level() {
            return health == VolumeHealth.DEGRADED
                    ? System.Logger.Level.WARNING
                    : System.Logger.Level.INFO;
        }

        @Override
        public String toString() {
            return "started, " + health
                    + (replayed == 0 ? "" : "; " + replayed + " writes of the journal replayed");
        }
    }

    /** A member has failed; the volume goes on without it. */
    record MemberFailed(int slot, String uri, String why) implements VolumeEvent {
        @Override
        public System.Logger.Level level() { return System.Logger.Level.WARNING; }

        @Override
        public String toString() {
            return "slot " + slot + " (" + DeviceUri.withoutSecret(uri)
                    + ") has failed, the volume is degraded: " + why;
        }
    }

    /** A member that was away is there again. */
    record MemberReturned(int slot, String uri, boolean covered) implements VolumeEvent {
        @Override
        public String toString() {
            return "slot " + slot + " (" + DeviceUri.withoutSecret(uri) + ") is back, and gets "
                    + (covered ? "what it missed" : "everything anew");
        }
    }

    /** Another device has taken a slot. */
    record MemberReplaced(int slot, String uri, boolean isSpare) implements VolumeEvent {
        @Override
        public String toString() {
            return "slot " + slot + " has " + (isSpare ? "the spare " : "the new member ")
                    + DeviceUri.withoutSecret(uri);
        }
    }

    /** The volume has a new member. */
    record MemberAdded(int slot, String uri) implements VolumeEvent {
        @Override
        public String toString() {
            return "has grown: slot " + slot + " is " + DeviceUri.withoutSecret(uri);
        }
    }

    /** A device has become a spare. */
    record SpareAdded(String uri) implements VolumeEvent {
        @Override
        public String toString() { return DeviceUri.withoutSecret(uri) + " is a spare"; }
    }

    /** The operator has removed a spare. */
    record SpareRemoved(String uri) implements VolumeEvent {
        @Override
        public String toString() { return DeviceUri.withoutSecret(uri) + " is a spare no more"; }
    }

    /** More is lost than the level survives. */
    record VolumeFailed(String why) implements VolumeEvent {
        @Override
        public System.Logger.Level level() { return System.Logger.Level.ERROR; }

        @Override
        public String toString() { return "the volume takes no more writes: " + why; }
    }

    /**
     * A scan has begun.
     *
     * @param slot of a rebuild; else empty
     */
    record ScanBegan(ScanKind kind, OptionalInt slot) implements VolumeEvent {
        @Override
        public String toString() { return ScanKind.title(kind, slot) + " began"; }
    }

    /**
     * A scan has ended.
     *
     * @param slot of a rebuild; else empty
     * @param why why it did not complete; empty if it did
     */
    record ScanEnded(ScanKind kind, OptionalInt slot, String why) implements VolumeEvent {
        /** Whether the scan completed. */
        public boolean isThrough() { return why.isEmpty(); }

        @Override
        public System.Logger.Level level() {
            return isThrough() ? System.Logger.Level.INFO : System.Logger.Level.WARNING;
        }

        @Override
        public String toString() {
            return ScanKind.title(kind, slot)
                    + (isThrough() ? " is through" : " has stopped: " + why);
        }
    }

    /** A scrub has ended. */
    record Scrubbed(ScrubResult result) implements VolumeEvent {
        @Override
        public System.Logger.Level level() {
            return result.isClean() ? System.Logger.Level.INFO : System.Logger.Level.WARNING;
        }

        @Override
        public String toString() { return "scrub: " + result; }
    }

    /** Blocks of a member could neither be read nor computed. */
    record BlocksLost(int slot, long memberBlock, long blocks) implements VolumeEvent {
        @Override
        public System.Logger.Level level() { return System.Logger.Level.ERROR; }

        @Override
        public String toString() {
            return "slot " + slot + ": " + blocks + " blocks from " + memberBlock
                    + " of its data can neither be read nor computed";
        }
    }

    /** The volume is stopped. */
    record Stopped(boolean inOrder) implements VolumeEvent {
        @Override
        public String toString() {
            return inOrder ? "stopped" : "closed; what was going on is seen to at the next start";
        }
    }
}
