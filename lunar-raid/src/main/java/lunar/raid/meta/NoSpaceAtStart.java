package lunar.raid.meta;

import lunar.block.NoSpaceException;

/**
 * A volume that is not started, since a member has no space for something that must be in place before data are read.
 * No member has failed, and whatever is to be brought in place stays logged or staged: a later start does all again.
 */
final class NoSpaceAtStart {
    private NoSpaceAtStart() {}

    /** @param what is to be brought in place, and why the volume cannot do without it */
    static NoSpaceException of(VolumeRecord volume, int slot, String what,
            NoSpaceException cause) {
        return new NoSpaceException("volume " + volume.description().title()
                + ": the member in slot " + slot + " has no space for " + what
                + ": give it space and start the volume again, nothing is lost until then: "
                + cause.getMessage(), cause);
    }
}
