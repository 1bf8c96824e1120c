package lunar.osd.target.security;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather.Extent;
import lunar.scsi.Bytes;

/**
 * A command that asks to be admitted.
 *
 * @param command the command
 * @param cdb its CDB as received
 * @param dataOut its data-out as received
 * @param data where in data-out the data of the command itself are
 * @param extents ranges of a user object that it reads or writes
 * @param gets attributes that it gets; number FFFFFFFFh for those of a page
 * @param compared attributes of members that it compares
 * @param sets attributes that it sets
 * @param token security token of its I_T nexus
 * @param initiator name of the initiator for log lines
 */
public record SecuredRequest(OsdCdb command, MemorySegment cdb, MemorySegment dataOut,
        BufferPart data, List<Extent> extents, List<AttributeId> gets,
        List<AttributeId> compared, List<AttributeId> sets, Bytes token, String initiator) {
    /** Returns the collection that the command reads or fills besides its object, if there is one. */
    Optional<ObjectId> secondCollection() {
        long collection = switch (command) {
            case CreateCollectionCommand create -> create.source();
            case QueryCommand query -> query.matches();
            default -> 0;
        };
        return collection == 0
                ? Optional.empty()
                : Optional.of(new ObjectId(command.object().partition(), collection));
    }
}
