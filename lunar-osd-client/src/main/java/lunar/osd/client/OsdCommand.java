package lunar.osd.client;

import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.OsdCdb;

/**
 * A command with its data, before {@link CommandFrame} places its attributes in the buffers.
 *
 * @param action which command
 * @param cdb makes the CDB of its common fields
 * @param options attributes and options
 * @param in where the command's own data-in goes; {@link MemorySegment#NULL} for none
 * @param out the command's own data-out; {@link MemorySegment#NULL} for none
 * @param continuation CDB continuation segment; empty for none
 */
record OsdCommand(ServiceAction action, Function<CommonFields, OsdCdb> cdb,
        RequestOptions options, MemorySegment in, MemorySegment out, MemorySegment continuation) {
    /** A command without data of its own. */
    static OsdCommand of(ServiceAction action, RequestOptions options,
            Function<CommonFields, OsdCdb> cdb) {
        return new OsdCommand(action, cdb, options, MemorySegment.NULL, MemorySegment.NULL,
                MemorySegment.NULL);
    }

    OsdCommand reading(MemorySegment into) {
        return new OsdCommand(action, cdb, options, into, out, continuation);
    }

    OsdCommand writing(MemorySegment from) {
        return new OsdCommand(action, cdb, options, in, from, continuation);
    }

    OsdCommand withContinuation(byte[] segment) {
        return new OsdCommand(action, cdb, options, in, out, MemorySegment.ofArray(segment));
    }

    /** Whether it removes the object, whose attributes nothing can get afterwards. */
    boolean removes() {
        return switch (action) {
            case REMOVE, REMOVE_PARTITION, REMOVE_COLLECTION -> true;
            default -> false;
        };
    }

    /** Whether it transfers data of an object to the device. */
    boolean writes() {
        return switch (action) {
            case WRITE, APPEND, CREATE_AND_WRITE -> true;
            default -> false;
        };
    }

    /** Whether it may get attributes of the current command: its data and attributes then have known places. */
    boolean canAskResponse() {
        return switch (action) {
            case LIST, LIST_COLLECTION, QUERY, READ_MAP, GET_MEMBER_ATTRIBUTES,
                    SET_MEMBER_ATTRIBUTES, REMOVE_MEMBER_OBJECTS ->
                false;
            case CREATE -> cdb.apply(CommonFields.of(OsdVersion.OSD_2)) instanceof CreateCommand one
                    && one.objectCount() == 1;
            default -> true;
        };
    }

    /** Whether a second execution changes nothing more. */
    boolean isIdempotent() {
        return switch (action) {
            case READ, WRITE, CLEAR, GET_ATTRIBUTES, SET_ATTRIBUTES, LIST, LIST_COLLECTION,
                    READ_MAP, GET_MEMBER_ATTRIBUTES, SET_MEMBER_ATTRIBUTES, FLUSH,
                    FLUSH_COLLECTION, FLUSH_PARTITION, FLUSH_OSD, OBJECT_STRUCTURE_CHECK ->
                true;
            default -> false;
        };
    }
}
