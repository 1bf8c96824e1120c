package lunar.raid.metadata.record;

import java.util.UUID;
import lunar.raid.SlotState;

/**
 * An entry of a volume's table of members.
 *
 * @param uuid which member; {@link #NIL_UUID} for a slot that has none, which is FAILED
 * @param state what it is for
 * @param dataBlocks blocks of its data area that the volume uses; of a spare, all it has
 * @param rebuiltStripes of a member that is being rebuilt, the stripe up to which all is there; else 0
 * @param isOut whether it was taken out, by the operator or for errors of its medium: it is FAILED until the operator
 *        wants it back, or another device comes into the slot
 * @param failedSince events of the first record that calls it FAILED, kept until it is ACTIVE again; 0 if it has not
 *        failed, or failed before this was recorded
 */
public record MemberRecord(UUID uuid, SlotState state, long dataBlocks, long rebuiltStripes,
        boolean isOut, long failedSince) {
    /** The UUID of no member. */
    public static final UUID NIL_UUID = new UUID(0, 0);

    public MemberRecord {
        if (dataBlocks <= 0 || rebuiltStripes < 0 || rebuiltStripes > dataBlocks) {
            throw new IllegalArgumentException("member " + uuid + " has " + dataBlocks
                    + " blocks and is rebuilt up to stripe " + rebuiltStripes);
        }
        if (rebuiltStripes != 0 && state != SlotState.REBUILDING) {
            throw new IllegalArgumentException(
                    "member " + uuid + " is " + state + " and half rebuilt");
        }
        if (isOut && state != SlotState.FAILED) {
            throw new IllegalArgumentException(
                    "member " + uuid + " is " + state + " and taken out");
        }
        if (failedSince < 0 || (failedSince != 0 && state != SlotState.FAILED
                && state != SlotState.REBUILDING)) {
            throw new IllegalArgumentException(
                    "member " + uuid + " is " + state + " and FAILED since event " + failedSince);
        }
        if (uuid.equals(NIL_UUID) && state != SlotState.FAILED) {
            throw new IllegalArgumentException("a slot without a member is " + state);
        }
    }

    /** Creates the record of a member that is not taken out. */
    public MemberRecord(UUID uuid, SlotState state, long dataBlocks, long rebuiltStripes) {
        this(uuid, state, dataBlocks, rebuiltStripes, false, 0);
    }

    /** A member that has all its data. */
    public static MemberRecord active(UUID uuid, long dataBlocks) {
        return new MemberRecord(uuid, SlotState.ACTIVE, dataBlocks, 0);
    }

    /** Returns this member in another state; one that was taken out remains so while it is FAILED. */
    public MemberRecord as(SlotState other) {
        boolean isAway = other == SlotState.FAILED || other == SlotState.REBUILDING;
        return new MemberRecord(uuid, other, dataBlocks, 0, isOut && other == SlotState.FAILED,
                isAway ? failedSince : 0);
    }

    /** Returns this member, FAILED and taken out. */
    public MemberRecord out() {
        return new MemberRecord(uuid, SlotState.FAILED, dataBlocks, 0, true, failedSince);
    }

    /** Returns this member, being rebuilt, with the stripes before this one done. */
    public MemberRecord rebuilt(long stripes) {
        return new MemberRecord(uuid, SlotState.REBUILDING, dataBlocks, stripes, false,
                failedSince);
    }

    /** Returns this member, FAILED since the record with this many events; 0 if they are not known. */
    public MemberRecord failedSince(long events) {
        return new MemberRecord(uuid, state, dataBlocks, rebuiltStripes, isOut, events);
    }
}
