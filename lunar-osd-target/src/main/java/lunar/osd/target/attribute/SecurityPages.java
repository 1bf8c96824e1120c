package lunar.osd.target.attribute;

import static lunar.osd.target.attribute.StandardValue.readOnly;
import static lunar.osd.target.attribute.StandardValue.stored;

import java.util.List;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.StandardAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;

/** The policy/security pages of a device without security: its only method is NOSEC. */
final class SecurityPages {
    private static final Bytes METHOD = Values.number(SecurityMethod.NOSEC.code(), 1);
    /** Bit map of methods, of which NOSEC is the lowest bit. */
    private static final Bytes SUPPORTED_METHODS = Values.number(1, 2);
    private static final int TAG_LENGTH = 4;

    private SecurityPages() {}

    static List<StandardValue> ofRoot() {
        return List.of(readOnly(RootAttribute.DEFAULT_SECURITY_METHOD, _ -> METHOD),
                readOnly(RootAttribute.PARTITION_DEFAULT_SECURITY_METHOD, _ -> METHOD),
                readOnly(RootAttribute.SUPPORTED_SECURITY_METHODS, _ -> SUPPORTED_METHODS));
    }

    static List<StandardValue> ofPartition() {
        return List.of(readOnly(PartitionAttribute.DEFAULT_SECURITY_METHOD, _ -> METHOD),
                tag(PartitionAttribute.POLICY_ACCESS_TAG),
                tag(PartitionAttribute.USER_OBJECT_POLICY_ACCESS_TAG));
    }

    static List<StandardValue> ofCollection() {
        return List.of(tag(CollectionAttribute.POLICY_ACCESS_TAG));
    }

    static List<StandardValue> ofUserObject() {
        return List.of(tag(UserObjectAttribute.POLICY_ACCESS_TAG));
    }

    private static StandardValue tag(StandardAttribute attribute) {
        return stored(attribute, SetRule.exactly(TAG_LENGTH), _ -> Values.number(0, TAG_LENGTH));
    }
}
