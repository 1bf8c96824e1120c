package lunar.osd.target.attribute;

import static lunar.osd.target.attribute.StandardValue.readOnly;

import java.util.List;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.scsi.Bytes;

/** The current command page. The response integrity check value is zero unless the security method has one. */
final class CurrentCommandPage {
    private CurrentCommandPage() {}

    static List<StandardValue> values() {
        return List.of(
                readOnly(CurrentCommandAttribute.RESPONSE_INTEGRITY_CHECK_VALUE,
                        scope -> IntegrityCheck.field(scope.current().responseValue(),
                                scope.version().integrityLength())),
                readOnly(CurrentCommandAttribute.OBJECT_TYPE,
                        scope -> Values.number(scope.current().type().code(), 1)),
                readOnly(CurrentCommandAttribute.PARTITION_ID,
                        scope -> Values.int64(scope.current().object().partition())),
                readOnly(CurrentCommandAttribute.OBJECT_ID,
                        scope -> Values.int64(scope.current().object().object())),
                readOnly(CurrentCommandAttribute.APPEND_STARTING_BYTE_ADDRESS,
                        scope -> Values.int64(scope.current().appendStart())),
                readOnly(CurrentCommandAttribute.CHANGE_IN_USED_CAPACITY,
                        scope -> scope.version() == OsdVersion.OSD_2
                                ? Values.int64(scope.current().usedCapacityChange())
                                : Bytes.EMPTY));
    }
}
