package lunar.raid.metadata.journal;

import lunar.block.NoSpaceException;
import lunar.raid.metadata.record.VolumeRecord;

/**
 * A volume that is not started, since a member has no space for something that must be in place before data are read.
 * No member has failed, and whatever is to be brought in place stays logged or staged: a later start does all again.
 */
public final class NoSpaceAtStart {
    private NoSpaceAtStart() {}

    /** @param what is to be brought in place, and why the volume cannot do without it */
    public static NoSpaceException of(VolumeRecord volume, int slot, String what,
            NoSpaceException cause) {
        return new NoSpaceException("volume " + volume.description().title()
                + ": the member in slot " + slot + " has no space for " + what
                + ": give it space and start the volume again, nothing is lost until then: "
                + cause.getMessage(), cause);
    }
}
