package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.InvalidCdbException;

/**
 * READ, WRITE, APPEND, CREATE AND WRITE, CLEAR (zeroes a range) and PUNCH (cuts a range out; what is behind it moves
 * down).
 *
 * @param action which of these
 * @param common common fields
 * @param object user object; for CREATE AND WRITE the requested one, with object 0 if the device chooses
 * @param byteCount LENGTH: bytes, unsigned
 * @param startByte STARTING BYTE ADDRESS, unsigned; 0 for APPEND, which writes at the end
 * @param continuationLength bytes of the CDB continuation segment; 0 for none
 */
public record ByteRangeCommand(ServiceAction action, CommonFields common, ObjectId object,
        long byteCount, long startByte, long continuationLength) implements OsdCdb {
    private static final Set<ServiceAction> ACTIONS = EnumSet.of(ServiceAction.READ,
            ServiceAction.WRITE, ServiceAction.APPEND, ServiceAction.CREATE_AND_WRITE,
            ServiceAction.CLEAR, ServiceAction.PUNCH);

    public ByteRangeCommand {
        common.check(action, ACTIONS);
        common.checkContinuation(continuationLength);
        if (action == ServiceAction.APPEND && startByte != 0) {
            throw new IllegalArgumentException("APPEND at byte " + startByte);
        }
    }

    static ByteRangeCommand decode(CdbReader cdb) throws InvalidCdbException {
        return new ByteRangeCommand(cdb.action(), cdb.common(), cdb.object(), cdb.length(),
                cdb.action() == ServiceAction.APPEND ? 0 : cdb.start(), cdb.continuationLength());
    }

    @Override
    public boolean hasDataOut() {
        return byteCount != 0 && (action == ServiceAction.WRITE || action == ServiceAction.APPEND
                || action == ServiceAction.CREATE_AND_WRITE);
    }

    @Override
    public boolean hasDataIn() { return byteCount != 0 && action == ServiceAction.READ; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action, common, object).length(byteCount).start(startByte)
                .continuationLength(continuationLength);
    }
}
