package lunar.initiator.scsi;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import lunar.block.StorageException;
import lunar.scsi.primary.ReportTargetPortGroups;
import lunar.scsi.primary.SetTargetPortGroups;
import lunar.scsi.primary.TargetPortGroupStates;
import lunar.scsi.primary.TargetPortGroupStates.Wanted;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;

/** Asymmetric logical unit access, ALUA (SPC-5 section 5.18): access states of a target's port groups for a unit. */
public final class PortGroups {
    private static final int FIRST_BYTES = 4096;
    private static final int MAX_BYTES = 1 << 20;

    private final Calls calls;

    PortGroups(Calls calls) { this.calls = calls; }

    /** REPORT TARGET PORT GROUPS (SPC-5 section 6.36): the groups and their access states. */
    public TargetPortGroups report() throws StorageException {
        return report(false);
    }

    /**
     * Like {@link #report()}, but in a selectable format.
     *
     * @param extended whether to include the time that a transition takes; not every unit supports that
     */
    public TargetPortGroups report(boolean extended) throws StorageException {
        return calls.ask(bytes -> new ReportTargetPortGroups(extended, bytes), FIRST_BYTES,
                MAX_BYTES, Lengths.in32(0, 4), TargetPortGroups::decode);
    }

    /** Returns the group of the port through which this session reaches the unit, if reported (VPD page 83h). */
    public OptionalInt own() throws StorageException {
        return new Inquiries(calls).designators().stream().map(Designator::identifier)
                .filter(Identifier.TargetPortGroup.class::isInstance)
                .mapToInt(it -> ((Identifier.TargetPortGroup) it).number()).findFirst();
    }

    /**
     * SET TARGET PORT GROUPS (SPC-5 section 6.45).
     *
     * @param states active, standby or unavailable, by group; other groups keep their state
     */
    public void set(Map<Integer, TargetPortGroups.State> states) throws StorageException {
        List<Wanted> wanted = states.entrySet().stream().sorted(Map.Entry.comparingByKey())
                .map(it -> new Wanted(it.getValue(), it.getKey())).toList();
        var list = new TargetPortGroupStates(wanted);
        calls.send(new SetTargetPortGroups(list.bytes().length), list);
    }
}
