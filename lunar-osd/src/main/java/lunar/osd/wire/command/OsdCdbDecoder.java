package lunar.osd.wire.command;

import java.lang.foreign.MemorySegment;
import lunar.scsi.InvalidCdbException;

/** Decodes the CDBs of object-based storage devices, of both versions. */
public final class OsdCdbDecoder {
    private OsdCdbDecoder() {}

    /**
     * Decodes a CDB with operation code 7Fh. An OSD-1 CDB may have the additional length of OSD-2, as Linux sends it.
     *
     * @throws InvalidCdbException 20h/00h for a service action that is not defined or whose layout is not known;
     *         24h/00h with the field in error for a CDB that is truncated, has a wrong length or an invalid field
     */
    public static OsdCdb decode(MemorySegment bytes) throws InvalidCdbException {
        var cdb = new CdbReader(bytes);
        return switch (cdb.action()) {
            case READ, WRITE, APPEND, CREATE_AND_WRITE, CLEAR, PUNCH ->
                ByteRangeCommand.decode(cdb);
            case FLUSH, FLUSH_COLLECTION, FLUSH_PARTITION, FLUSH_OSD -> FlushCommand.decode(cdb);
            case CREATE -> CreateCommand.decode(cdb);
            case CREATE_PARTITION -> CreatePartitionCommand.decode(cdb);
            case CREATE_COLLECTION, CREATE_USER_TRACKING_COLLECTION ->
                CreateCollectionCommand.decode(cdb);
            case REMOVE, REMOVE_PARTITION, REMOVE_COLLECTION -> RemoveCommand.decode(cdb);
            case LIST, LIST_COLLECTION -> ListCommand.decode(cdb);
            case GET_ATTRIBUTES, SET_ATTRIBUTES -> AttributesCommand.decode(cdb);
            case GET_MEMBER_ATTRIBUTES, SET_MEMBER_ATTRIBUTES, REMOVE_MEMBER_OBJECTS ->
                AttributesCommand.decode(cdb);
            case QUERY -> QueryCommand.decode(cdb);
            case READ_MAP -> ReadMapCommand.decode(cdb);
            case FORMAT_OSD -> FormatOsdCommand.decode(cdb);
            case OBJECT_STRUCTURE_CHECK -> StructureCheckCommand.decode(cdb);
            case SET_KEY -> SetKeyCommand.decode(cdb);
            case SET_MASTER_KEY -> SetMasterKeyCommand.decode(cdb);
            case PERFORM_SCSI_COMMAND -> PerformScsiCommand.decode(cdb);
            case PERFORM_TASK_MANAGEMENT_FUNCTION -> PerformTaskManagementCommand.decode(cdb);
            case COPY_USER_OBJECTS, CREATE_CLONE, CREATE_SNAPSHOT, DETACH_CLONE,
                    REFRESH_SNAPSHOT_OR_CLONE, RESTORE_PARTITION_FROM_SNAPSHOT,
                    READ_MAPS_AND_COMPARE ->
                throw InvalidCdbException.operationCode();
        };
    }
}
