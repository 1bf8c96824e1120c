package lunar.initiator.scsi;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import lunar.block.StorageException;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Naa;
import lunar.scsi.vpd.StandardInquiry;

/**
 * The identity of a logical unit, equal on every path (SPC-5, VPD pages 80h and 83h).
 *
 * @param vendor T10 vendor identification, without blanks at the end
 * @param product product identification
 * @param serialNumber unit serial number; empty if there is none
 * @param names designators of the logical unit itself, in the order of VPD page 83h
 */
public record UnitIdentity(String vendor, String product, String serialNumber,
        List<Identifier> names) {
    /** Kinds of names from the most trustworthy on. Ports and groups have names of other kinds. */
    private static final List<Class<? extends Identifier>> KINDS = List.of(
            Identifier.UuidName.class,
            Naa.class, Identifier.Eui64.class, Identifier.ScsiName.class,
            Identifier.T10VendorId.class);

    public UnitIdentity {
        names = List.copyOf(names);
    }

    static UnitIdentity read(Inquiries inquiry) throws StorageException {
        StandardInquiry standard = inquiry.standard();
        List<Identifier> names = inquiry.designators().stream()
                .filter(it -> it.association() == Designator.Association.LOGICAL_UNIT)
                .map(Designator::identifier).toList();
        return new UnitIdentity(standard.vendor().strip(), standard.product().strip(),
                inquiry.serialNumber(), names);
    }

    /**
     * Whether both are certainly the same unit. The best kind of name that both have decides, of UUID, NAA, EUI-64,
     * SCSI name and T10 vendor identification; then vendor, product and serial number. Two units that have none of
     * these in common, such as disks without any name, do not count as the same.
     */
    public boolean isSameUnit(UnitIdentity other) {
        for (Class<? extends Identifier> kind : KINDS) {
            Set<Identifier> mine = of(kind);
            Set<Identifier> others = other.of(kind);
            if (!mine.isEmpty() && !others.isEmpty()) {
                mine.retainAll(others);
                return !mine.isEmpty();
            }
        }
        return !serialNumber.isEmpty() && serialNumber.equals(other.serialNumber)
                && vendor.equals(other.vendor) && product.equals(other.product);
    }

    private Set<Identifier> of(Class<? extends Identifier> kind) {
        var found = new HashSet<Identifier>();
        names.stream().filter(kind::isInstance).forEach(found::add);
        return found;
    }

    /**
     * Queries both, and returns whether they are the same unit; see {@link #isSameUnit}. A target may serve a unit by
     * several ports, LUNs and sessions.
     */
    public static boolean sameUnit(ScsiUnit a, ScsiUnit b) throws StorageException {
        return a.identity().isSameUnit(b.identity());
    }
}
