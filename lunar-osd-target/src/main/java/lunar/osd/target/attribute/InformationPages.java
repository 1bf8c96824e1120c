package lunar.osd.target.attribute;

import static lunar.osd.target.attribute.StandardValue.applied;
import static lunar.osd.target.attribute.StandardValue.readOnly;
import static lunar.osd.target.attribute.StandardValue.stored;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import lunar.block.StorageException;
import lunar.osd.security.Credential;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.Isolation;
import lunar.osd.wire.data.ContinuationDescriptor;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.scsi.Bytes;

/** The information pages: identifiers, names, capacities. */
final class InformationPages {
    private static final int ISOLATION_LENGTH = 32;
    /** ACCESSIBILITY: everything is accessible. */
    private static final Bytes ACCESSIBLE = Values.number(0, 4);

    private InformationPages() {}

    static List<StandardValue> ofRoot() {
        var all = new ArrayList<>(List.of(
                new StandardValue(RootAttribute.SYSTEM_ID.id(),
                        scope -> SystemId.of(scope.objects(),
                                scope.facts().identity().uuid()),
                        SetRule.byFormat(Credential.SYSTEM_ID_LENGTH),
                        (change, value) -> change.store(RootAttribute.SYSTEM_ID.id(),
                                value.length() == 0
                                        ? value
                                        : Values.padded(value, Credential.SYSTEM_ID_LENGTH))),
                readOnly(RootAttribute.VENDOR,
                        scope -> Values.text(scope.facts().identity().vendor(), 8, ' ')),
                readOnly(RootAttribute.PRODUCT,
                        scope -> Values.text(scope.facts().identity().product(), 16, ' ')),
                readOnly(RootAttribute.MODEL,
                        scope -> Values.text(scope.facts().identity().product(), 32, ' ')),
                readOnly(RootAttribute.REVISION,
                        scope -> Values.text(scope.facts().identity().revision(), 4, ' ')),
                readOnly(RootAttribute.SERIAL_NUMBER,
                        scope -> Values.text(scope.facts().identity().serial())),
                stored(RootAttribute.OSD_NAME, SetRule.ANY),
                readOnly(RootAttribute.MAX_CDB_CONTINUATION_LENGTH,
                        scope -> Values.number(scope.facts().maxContinuationLength(), 4)),
                readOnly(RootAttribute.TOTAL_CAPACITY, InformationPages::totalCapacity),
                readOnly(RootAttribute.USED_CAPACITY,
                        scope -> Values.int64(scope.objects().usedBytes(0))),
                readOnly(RootAttribute.ACCESSIBILITY, _ -> ACCESSIBLE),
                readOnly(RootAttribute.PARTITION_COUNT,
                        scope -> Values.int64(scope.objects().partitionCount())),
                readOnly(RootAttribute.CLOCK, scope -> Values.time(scope.facts().nowMs())),
                readOnly(RootAttribute.DEFAULT_ISOLATION,
                        _ -> Values.number(Isolation.NONE.code(), 1)),
                readOnly(RootAttribute.SUPPORTED_ISOLATION, _ -> supportedIsolation())));
        for (int type : List.of(ContinuationDescriptor.TYPE_SCATTER_GATHER,
                ContinuationDescriptor.TYPE_QUERY_LIST)) {
            all.add(readOnly(RootAttribute.continuationDescriptor(type),
                    scope -> Values.number(scope.facts().maxContinuationLength(), 4)));
        }
        return all;
    }

    private static Bytes totalCapacity(AttributeScope scope) throws StorageException {
        Bytes formatted = scope.stored(Quota.FORMATTED_CAPACITY);
        return formatted.length() > 0
                ? formatted
                : Values.int64(scope.facts().usage().usedBytes()
                        + scope.facts().usage().availableBytes());
    }

    /** Commands run concurrently, without isolation from each other beyond the store's. */
    private static Bytes supportedIsolation() {
        byte[] map = new byte[ISOLATION_LENGTH];
        int code = Isolation.NONE.code();
        MemorySegment.ofArray(map).set(ValueLayout.JAVA_BYTE, code / 8,
                (byte) (0x80 >> code % 8));
        return Bytes.of(map);
    }

    static List<StandardValue> ofPartition() {
        return List.of(
                readOnly(PartitionAttribute.PARTITION_ID,
                        scope -> Values.int64(scope.id().partition())),
                stored(PartitionAttribute.USERNAME, SetRule.ANY),
                readOnly(PartitionAttribute.USED_CAPACITY,
                        scope -> Values.int64(scope.objects().usedBytes(scope.id().partition()))),
                readOnly(PartitionAttribute.ACCESSIBILITY, _ -> ACCESSIBLE),
                readOnly(PartitionAttribute.OBJECT_COUNT, scope -> Values.int64(
                        Quota.objectCount(scope.objects(), scope.id().partition()))));
    }

    static List<StandardValue> ofCollection() {
        return List.of(
                readOnly(CollectionAttribute.PARTITION_ID,
                        scope -> Values.int64(scope.id().partition())),
                readOnly(CollectionAttribute.COLLECTION_ID,
                        scope -> Values.int64(scope.id().object())),
                stored(CollectionAttribute.USERNAME, SetRule.ANY),
                stored(CollectionAttribute.COLLECTION_TYPE, SetRule.READ_ONLY,
                        _ -> Values.number(0, 1)),
                readOnly(CollectionAttribute.USED_CAPACITY, _ -> Values.int64(0)),
                readOnly(CollectionAttribute.ACCESSIBILITY, _ -> ACCESSIBLE));
    }

    static List<StandardValue> ofUserObject() {
        return List.of(
                readOnly(UserObjectAttribute.PARTITION_ID,
                        scope -> Values.int64(scope.id().partition())),
                readOnly(UserObjectAttribute.USER_OBJECT_ID,
                        scope -> Values.int64(scope.id().object())),
                stored(UserObjectAttribute.USERNAME, SetRule.ANY),
                readOnly(UserObjectAttribute.USED_CAPACITY,
                        scope -> Values.int64(scope.object().length())),
                applied(UserObjectAttribute.LOGICAL_LENGTH, SetRule.always(8),
                        scope -> Values.int64(scope.object().length())),
                readOnly(UserObjectAttribute.ACCESSIBILITY, _ -> ACCESSIBLE));
    }

    /** The manufacturer's page of the root: what FORMAT OSD has set. */
    static List<StandardValue> ofFormat() {
        AttributeId id = Quota.FORMATTED_CAPACITY;
        return List.of(readOnly(id, scope -> scope.stored(id)));
    }

}
