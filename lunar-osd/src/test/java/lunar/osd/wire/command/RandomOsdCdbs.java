package lunar.osd.wire.command;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.EncodedOffset;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityParameters;
import lunar.scsi.Bytes;

/** Generates any CDB that {@link OsdCdb} can represent, determined by a seed. */
public final class RandomOsdCdbs {
    private final Random random;

    public RandomOsdCdbs(long seed) { random = new Random(seed); }

    /** A CDB of a random command of a version. */
    public OsdCdb next(OsdVersion version) {
        List<ServiceAction> actions = List.of(ServiceAction.values()).stream()
                .filter(each -> each.hasLayout() && each.isIn(version)).toList();
        return next(actions.get(random.nextInt(actions.size())), common(version));
    }

    private OsdCdb next(ServiceAction action, CommonFields common) {
        return switch (action) {
            case READ, WRITE, CREATE_AND_WRITE, CLEAR, PUNCH -> new ByteRangeCommand(action, common,
                    object(), random.nextLong(), random.nextLong(), continuation(common));
            case APPEND -> new ByteRangeCommand(action, common, object(), random.nextLong(), 0,
                    continuation(common));
            case FLUSH, FLUSH_COLLECTION, FLUSH_PARTITION, FLUSH_OSD -> flush(action, common);
            case CREATE -> random.nextBoolean()
                    ? new CreateCommand(common, ObjectId.ofPartition(random.nextLong()),
                            random.nextInt(0x1_0000), continuation(common))
                    : new CreateCommand(common, object(), random.nextInt(2),
                            continuation(common));
            case CREATE_PARTITION -> new CreatePartitionCommand(common, random.nextLong(),
                    continuation(common));
            case CREATE_COLLECTION -> new CreateCollectionCommand(action, common, object(), 0,
                    false, continuation(common));
            case CREATE_USER_TRACKING_COLLECTION -> new CreateCollectionCommand(action, common,
                    object(), random.nextLong(), random.nextBoolean(), continuation(common));
            case REMOVE -> new RemoveCommand(action, common, object(), false,
                    continuation(common));
            case REMOVE_COLLECTION -> new RemoveCommand(action, common, object(),
                    random.nextBoolean(), continuation(common));
            case REMOVE_PARTITION -> new RemoveCommand(action, common,
                    ObjectId.ofPartition(random.nextLong()), osd2(common) && random.nextBoolean(),
                    continuation(common));
            case LIST, LIST_COLLECTION -> new ListCommand(action, common,
                    action == ServiceAction.LIST
                            ? ObjectId.ofPartition(random.nextLong())
                            : object(),
                    random.nextLong(), random.nextLong(), uint32(),
                    osd2(common) && random.nextBoolean());
            case GET_ATTRIBUTES, SET_ATTRIBUTES -> new AttributesCommand(action, common, object(),
                    false, continuation(common));
            case GET_MEMBER_ATTRIBUTES, SET_MEMBER_ATTRIBUTES, REMOVE_MEMBER_OBJECTS ->
                new AttributesCommand(action, common, object(), random.nextBoolean(),
                        continuation(common));
            case QUERY -> new QueryCommand(common, object(), random.nextLong(), random.nextLong(),
                    random.nextBoolean(), continuation(common));
            case READ_MAP -> new ReadMapCommand(common, object(), random.nextLong(),
                    random.nextLong(), random.nextInt(0x1_0000));
            case FORMAT_OSD -> new FormatOsdCommand(common, random.nextLong(),
                    continuation(common));
            case OBJECT_STRUCTURE_CHECK -> new StructureCheckCommand(common, random.nextLong(),
                    continuation(common));
            case SET_KEY -> new SetKeyCommand(common, KeyLevel.of(1 + random.nextInt(3))
                    .orElseThrow(), random.nextLong(), random.nextInt(16), bytes(7), bytes(20));
            case SET_MASTER_KEY -> new SetMasterKeyCommand(common, random.nextBoolean(),
                    random.nextInt(256), bytes(7), uint32(), uint32());
            case PERFORM_SCSI_COMMAND -> new PerformScsiCommand(common, object(), bytes(16));
            case PERFORM_TASK_MANAGEMENT_FUNCTION -> new PerformTaskManagementCommand(common,
                    object(), random.nextInt(0x1_0000), random.nextInt(256), random.nextLong());
            default -> throw new AssertionError(action);
        };
    }

    private OsdCdb flush(ServiceAction action, CommonFields given) {
        CommandOptions options = given.options();
        CommonFields common = given.withOptions(new CommandOptions(Isolation.DEFAULT,
                options.fua(), options.dpo(), options.bypassTimestamps()));
        FlushScope scope;
        do {
            scope = FlushScope.values()[random.nextInt(FlushScope.values().length)];
        } while (!scope.isOf(action, common.version()));
        boolean range = scope == FlushScope.RANGE_AND_ATTRIBUTES;
        ObjectId object = switch (action) {
            case FLUSH_OSD -> ObjectId.ROOT;
            case FLUSH_PARTITION -> ObjectId.ofPartition(random.nextLong());
            default -> object();
        };
        return new FlushCommand(action, common, object, scope, range ? random.nextLong() : 0,
                range ? random.nextLong() : 0, continuation(common));
    }

    private static boolean osd2(CommonFields common) {
        return common.version() == OsdVersion.OSD_2;
    }

    private ObjectId object() { return new ObjectId(random.nextLong(), random.nextLong()); }

    private long uint32() { return random.nextInt() & 0xffff_ffffL; }

    private Bytes bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return Bytes.of(bytes);
    }

    private long continuation(CommonFields common) {
        return osd2(common) && random.nextBoolean() ? 40 + 8L * random.nextInt(1 << 28) : 0;
    }

    private CommonFields common(OsdVersion version) {
        Isolation isolation = version == OsdVersion.OSD_1
                ? Isolation.DEFAULT
                : Isolation.values()[random.nextInt(Isolation.values().length)];
        return new CommonFields(version,
                new CommandOptions(isolation, random.nextBoolean(), random.nextBoolean(),
                        random.nextBoolean()),
                attributes(version), capability(version),
                new SecurityParameters(bytes(version.integrityLength()),
                        new RequestNonce(random.nextLong(1L << 48), bytes(6)), random.nextInt(),
                        random.nextInt()));
    }

    private Capability capability(OsdVersion version) {
        boolean osd2 = version == OsdVersion.OSD_2;
        var permissions = EnumSet.noneOf(Permission.class);
        for (Permission permission : Permission.values()) {
            if (random.nextBoolean()) {
                permissions.add(permission);
            }
        }
        return new Capability(random.nextInt(16), random.nextInt(16), random.nextInt(16),
                random.nextInt(16), random.nextLong(1L << 48), bytes(20), bytes(12),
                random.nextLong(1L << 48), random.nextInt(256), permissions,
                new ObjectDescriptor(random.nextInt(16), osd2 ? uint32() : 0, uint32(),
                        osd2 ? random.nextInt(0x1_0000) : 0, object(),
                        osd2 ? random.nextLong() : 0, osd2 ? random.nextLong() : 0));
    }

    private AttributeParameters attributes(OsdVersion version) {
        return switch (random.nextInt(version == OsdVersion.OSD_1 ? 2 : 3)) {
            case 0 -> new ListParameters(part(version), part(version), part(version));
            case 1 -> {
                int page = random.nextBoolean() ? PageParameters.NO_PAGE : random.nextInt();
                Optional<AttributeId> set = random.nextBoolean()
                        ? Optional.empty()
                        : Optional.of(new AttributeId(1 + random.nextInt(1 << 30),
                                random.nextInt()));
                yield new PageParameters(page,
                        page == PageParameters.NO_PAGE ? BufferPart.NONE : part(version), set,
                        set.isEmpty() ? BufferPart.NONE : part(version));
            }
            default -> new FieldParameters(
                    new Attribute(new AttributeId(random.nextInt(), random.nextInt()),
                            bytes(random.nextInt(FieldParameters.MAX_LENGTH + 1))));
        };
    }

    private BufferPart part(OsdVersion version) {
        return random.nextInt(3) == 0
                ? BufferPart.NONE
                : new BufferPart(EncodedOffset.roundUp(
                        random.nextLong(1L << 42) >> random.nextInt(42), version),
                        1 + random.nextLong(0xffff_ffffL));
    }
}
