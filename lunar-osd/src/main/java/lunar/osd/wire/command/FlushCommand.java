package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * FLUSH, FLUSH COLLECTION, FLUSH PARTITION and FLUSH OSD. The scope is in bits 1 and 0 of byte 10; Linux writes it into
 * those of byte 11, where it is read from if byte 10 has none.
 *
 * @param action which of these
 * @param common common fields, with default isolation
 * @param object what to flush
 * @param scope which part of it
 * @param byteCount bytes of the range; 0 unless the scope is a range
 * @param startByte first byte of the range; 0 unless the scope is a range
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record FlushCommand(ServiceAction action, CommonFields common, ObjectId object,
        FlushScope scope, long byteCount, long startByte, long continuationLength)
        implements
        OsdCdb {
    /** The commands, whose options byte differs. */
    static final Set<ServiceAction> ACTIONS = Collections.unmodifiableSet(EnumSet.of(
            ServiceAction.FLUSH, ServiceAction.FLUSH_COLLECTION, ServiceAction.FLUSH_PARTITION,
            ServiceAction.FLUSH_OSD));

    private static final int SCOPE_MASK = 3;
    private static final int SCOPE_BIT = 1;

    public FlushCommand {
        common.check(action, ACTIONS);
        common.checkContinuation(continuationLength);
        boolean strayRange = scope != FlushScope.RANGE_AND_ATTRIBUTES
                && (byteCount != 0 || startByte != 0);
        if (common.options().isolation() != Isolation.DEFAULT
                || !scope.isOf(action, common.version()) || strayRange) {
            throw new IllegalArgumentException(action + " of " + scope + ", " + byteCount
                    + " bytes at " + startByte + ", " + common.options());
        }
    }

    static FlushCommand decode(CdbReader cdb) throws InvalidCdbException {
        int code = cdb.int8(CdbLayout.OPTIONS_AT) & SCOPE_MASK;
        if (code == 0) {
            code = cdb.bits(SCOPE_MASK);
        }
        FlushScope scope = FlushScope.of(code, cdb.action(), cdb.common().version())
                .orElseThrow(() -> InvalidCdbException.field(CdbLayout.OPTIONS_AT, SCOPE_BIT));
        boolean range = scope == FlushScope.RANGE_AND_ATTRIBUTES;
        ObjectId object = switch (cdb.action()) {
            case FLUSH_OSD -> ObjectId.ROOT;
            case FLUSH_PARTITION -> cdb.partition();
            default -> cdb.object();
        };
        return new FlushCommand(cdb.action(), cdb.common(), object, scope,
                range ? cdb.length() : 0, range ? cdb.start() : 0, cdb.continuationLength());
    }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action, common, object).options(scope.code()).length(byteCount)
                .start(startByte).continuationLength(continuationLength);
    }
}
