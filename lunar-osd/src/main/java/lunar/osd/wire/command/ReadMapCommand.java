package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import lunar.osd.field.Fields;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;

/**
 * READ MAP: which ranges of a user object are written, holes or damaged. OSD-2 only.
 *
 * @param common common fields
 * @param object user object
 * @param allocationLength most bytes of the reply, unsigned
 * @param startByte first byte of the object that the reply covers, unsigned
 * @param mapType code of a {@code lunar.osd.wire.data.MapType}, 16 bits
 */
public record ReadMapCommand(CommonFields common, ObjectId object, long allocationLength,
        long startByte, int mapType) implements OsdCdb {
    private static final int MAP_TYPE_AT = 48;

    public ReadMapCommand {
        common.check(ServiceAction.READ_MAP, EnumSet.of(ServiceAction.READ_MAP));
        Fields.check("mapType", mapType, 0xffff);
    }

    static ReadMapCommand decode(CdbReader cdb) {
        return new ReadMapCommand(cdb.common(), cdb.object(), cdb.length(), cdb.start(),
                cdb.int16(MAP_TYPE_AT));
    }

    @Override
    public ServiceAction action() { return ServiceAction.READ_MAP; }

    @Override
    public boolean hasDataIn() { return allocationLength != 0; }

    @Override
    public void encode(MemorySegment target) {
        new CdbWriter(target, action(), common, object).length(allocationLength).start(startByte)
                .int16(MAP_TYPE_AT, mapType);
    }
}
