package lunar.scsi.target;

import java.util.List;
import lunar.block.Identity;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Naa;

/** Designators of a logical unit itself, independent of its targets (SPC-5 section 7.7.6). */
public final class UnitNames {
    private UnitNames() {}

    /** Returns the designators by which third-party copies identify the unit, in order of preference. */
    public static List<Designator> of(Identity identity) {
        return List.of(Designator.ofUnit(Naa.locallyAssigned(identity.uuid())),
                Designator.ofUnit(
                        new Identifier.T10VendorId(identity.vendor(), identity.serial())));
    }
}
