package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidCdbException;

/**
 * SET MASTER KEY: a step of the Diffie-Hellman exchange that replaces the master key.
 *
 * <pre>
 * byte 11: 1..0 DH step   24 DH group   25 key identifier (7)   32 parameter list length (4)   36 allocation length (4)
 * </pre>
 *
 * @param common common fields
 * @param changeKey the second step, which changes the key; else the exchange of seeds
 * @param group DH_GROUP, eight bits
 * @param keyId identifier of the new key, 7 bytes
 * @param parameterListLength bytes of data-out, unsigned 32 bits
 * @param allocationLength most bytes of data-in, unsigned 32 bits
 */
public record SetMasterKeyCommand(CommonFields common, boolean changeKey, int group, Bytes keyId,
        long parameterListLength, long allocationLength) implements OsdCdb {
    private static final int STEP_MASK = 3;
    private static final int STEP_BIT = 1;
    private static final int CHANGE_KEY = 1;
    private static final int GROUP_AT = 24;
    private static final int KEY_ID_AT = 25;
    private static final int PARAMETER_LIST_LENGTH_AT = 32;
    private static final int ALLOCATION_LENGTH_AT = 36;

    public SetMasterKeyCommand {
        Fields.check("group", group, 0xff);
        Fields.checkLength("keyId", keyId, SetKeyCommand.KEY_ID_LENGTH);
        Fields.check("parameterListLength", parameterListLength, Fields.UINT32_MAX);
        Fields.check("allocationLength", allocationLength, Fields.UINT32_MAX);
    }

    static SetMasterKeyCommand decode(CdbReader cdb) throws InvalidCdbException {
        int step = cdb.bits(STEP_MASK);
        if (step > CHANGE_KEY) {
            throw InvalidCdbException.field(CdbLayout.FORMAT_AT, STEP_BIT);
        }
        return new SetMasterKeyCommand(cdb.common(), step == CHANGE_KEY, cdb.int8(GROUP_AT),
                cdb.bytes(KEY_ID_AT, SetKeyCommand.KEY_ID_LENGTH),
                cdb.int32(PARAMETER_LIST_LENGTH_AT), cdb.int32(ALLOCATION_LENGTH_AT));
    }

    @Override
    public ServiceAction action() { return ServiceAction.SET_MASTER_KEY; }

    @Override
    public ObjectId object() { return ObjectId.ROOT; }

    @Override
    public boolean hasDataOut() { return parameterListLength != 0; }

    @Override
    public boolean hasDataIn() { return allocationLength != 0; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object()).bits(changeKey ? CHANGE_KEY : 0)
                .int8(GROUP_AT, group).bytes(KEY_ID_AT, keyId)
                .int32(PARAMETER_LIST_LENGTH_AT, parameterListLength)
                .int32(ALLOCATION_LENGTH_AT, allocationLength);
    }
}
