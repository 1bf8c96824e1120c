package lunar.osd.target.attribute;

import static lunar.osd.target.attribute.StandardValue.readOnly;

import java.util.List;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;

/** The error recovery pages. The store reports damage when it is read; no object is known as damaged before. */
final class ErrorRecoveryPages {
    private static final Bytes UNDAMAGED = Values.number(0, 1);

    private ErrorRecoveryPages() {}

    static List<StandardValue> ofRoot() {
        return List.of(undamaged(RootAttribute.DAMAGE_SUMMARY),
                undamaged(RootAttribute.CONTAINED_DAMAGE_SUMMARY));
    }

    static List<StandardValue> ofPartition() {
        return List.of(undamaged(PartitionAttribute.DAMAGE_SUMMARY),
                undamaged(PartitionAttribute.CONTAINED_DAMAGE_SUMMARY));
    }

    static List<StandardValue> ofCollection() {
        return List.of(undamaged(CollectionAttribute.DAMAGE_SUMMARY));
    }

    static List<StandardValue> ofUserObject() {
        return List.of(undamaged(UserObjectAttribute.DAMAGE_SUMMARY));
    }

    private static StandardValue undamaged(StandardAttribute attribute) {
        return readOnly(attribute, _ -> UNDAMAGED);
    }
}
