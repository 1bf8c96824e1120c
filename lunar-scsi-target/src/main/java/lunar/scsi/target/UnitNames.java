package lunar.scsi.target;

import java.util.List;
import lunar.block.Identity;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Naa;

/** The names of a logical unit itself, in whichever target it is (SPC-5 section 7.7.6). */
public final class UnitNames {
    private UnitNames() {}

    /** Returns the designators, by which copies find the unit; the best comes first. */
    public static List<Designator> of(Identity identity) {
        return List.of(Designator.ofUnit(Naa.locallyAssigned(identity.uuid())),
                Designator.ofUnit(
                        new Identifier.T10VendorId(identity.vendor(), identity.serial())));
    }
}
