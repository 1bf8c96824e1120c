package lunar.osd.target;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import lunar.osd.security.IntegrityValues;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.PerformScsiCommand;
import lunar.osd.wire.command.PerformTaskManagementCommand;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.command.ReadMapCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.command.StructureCheckCommand;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.data.QueryList;
import lunar.osd.wire.page.CollectionAttribute;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.page.StandardPage;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests what a capability allows: permissions of each command, object, times, tags, ranges, attributes. */
class CapabilityRulesTest {
    private static final ObjectId OBJECT = SecuredFixture.OBJECT;
    private static final ObjectId PARTITION = ObjectId.ofPartition(SecuredFixture.PARTITION);
    private static final ObjectId COLLECTION = new ObjectId(SecuredFixture.PARTITION, 0x2_0000);
    private static final int PERMISSIONS_AT = 129;
    private static final AdditionalSense KEY_FROZEN = new AdditionalSense(0x24, 0x05);
    private static final AttributeId APPLICATION = new AttributeId(0x1_0000, 1);

    private SecuredFixture device;

    @BeforeEach
    void open() throws Exception {
        device = new SecuredFixture(SecurityMethod.CMDRSP).withObject();
        device.run(common -> new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, common,
                COLLECTION, 0, false, 0)).isGood();
    }

    @AfterEach
    void close() throws Exception { device.close(); }

    /** A command and the permissions that it needs, written by hand from the table of the documentation. */
    private record Needs(String name, Function<CommonFields, OsdCdb> make,
            Set<Permission> permissions) {
        static Needs of(Function<CommonFields, OsdCdb> make, Permission... permissions) {
            String name = make.apply(CommonFields.of(OsdVersion.OSD_2)).action().toString();
            return new Needs(name, make, Set.of(permissions));
        }

        @Override
        public String toString() { return name + ' ' + permissions; }
    }

    private static Needs range(ServiceAction action, Permission... permissions) {
        return Needs.of(common -> new ByteRangeCommand(action, common,
                action == ServiceAction.CREATE_AND_WRITE
                        ? new ObjectId(SecuredFixture.PARTITION, 0x3_0000)
                        : OBJECT,
                0, 0, 0), permissions);
    }

    private static Needs flush(ServiceAction action, ObjectId object) {
        return Needs.of(common -> new FlushCommand(action, common, object,
                action == ServiceAction.FLUSH ? FlushScope.ATTRIBUTES : FlushScope.ALL, 0, 0, 0),
                Permission.OBJECT_MANAGEMENT);
    }

    private static Needs remove(ServiceAction action, ObjectId object, boolean force,
            Permission... permissions) {
        return Needs.of(common -> new RemoveCommand(action, common, object, force, 0),
                permissions);
    }

    private static Needs list(ServiceAction action, ObjectId object) {
        return Needs.of(common -> new ListCommand(action, common, object, 1024, 0, 0, false),
                Permission.READ);
    }

    private static Needs attributes(ServiceAction action, ObjectId object,
            Permission... permissions) {
        return Needs.of(common -> new AttributesCommand(action, common, object, false, 0),
                permissions);
    }

    private static Needs setKey(KeyLevel level, long partition, Permission... permissions) {
        return Needs.of(common -> new SetKeyCommand(common, level, partition, 5,
                Bytes.of(new byte[7]), Bytes.of(new byte[20])), permissions);
    }

    static Stream<Needs> commands() {
        return Stream.of(
                range(ServiceAction.READ, Permission.READ),
                range(ServiceAction.WRITE, Permission.WRITE),
                range(ServiceAction.CLEAR, Permission.WRITE),
                range(ServiceAction.PUNCH, Permission.WRITE),
                range(ServiceAction.APPEND, Permission.APPEND),
                range(ServiceAction.CREATE_AND_WRITE, Permission.CREATE, Permission.WRITE),
                Needs.of(common -> new ReadMapCommand(common, OBJECT, 64, 0, 0),
                        Permission.READ),
                Needs.of(common -> new CreateCommand(common,
                        new ObjectId(SecuredFixture.PARTITION, 0x4_0000), 0, 0),
                        Permission.CREATE),
                Needs.of(common -> new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION,
                        common, new ObjectId(SecuredFixture.PARTITION, 0x5_0000), 0, false, 0),
                        Permission.CREATE),
                Needs.of(common -> new CreateCollectionCommand(
                        ServiceAction.CREATE_USER_TRACKING_COLLECTION, common,
                        new ObjectId(SecuredFixture.PARTITION, 0x6_0000), COLLECTION.object(),
                        false, 0), Permission.CREATE, Permission.MULTI_OBJECT),
                Needs.of(common -> new CreatePartitionCommand(common, 0x7_0000, 0),
                        Permission.CREATE),
                Needs.of(common -> new QueryCommand(common, COLLECTION, 64, 0, false, 0),
                        Permission.QUERY),
                Needs.of(common -> new QueryCommand(common, COLLECTION, 64, 0x2_0001, false, 0),
                        Permission.QUERY, Permission.MULTI_OBJECT),
                flush(ServiceAction.FLUSH, OBJECT),
                flush(ServiceAction.FLUSH_COLLECTION, COLLECTION),
                flush(ServiceAction.FLUSH_COLLECTION, PARTITION),
                flush(ServiceAction.FLUSH_PARTITION, PARTITION),
                flush(ServiceAction.FLUSH_OSD, ObjectId.ROOT),
                list(ServiceAction.LIST, ObjectId.ROOT),
                list(ServiceAction.LIST, PARTITION),
                list(ServiceAction.LIST_COLLECTION, COLLECTION),
                list(ServiceAction.LIST_COLLECTION, PARTITION),
                attributes(ServiceAction.GET_ATTRIBUTES, OBJECT, Permission.GET_ATTRIBUTES),
                attributes(ServiceAction.GET_ATTRIBUTES, PARTITION, Permission.GET_ATTRIBUTES),
                attributes(ServiceAction.GET_ATTRIBUTES, ObjectId.ROOT,
                        Permission.GET_ATTRIBUTES),
                attributes(ServiceAction.SET_ATTRIBUTES, OBJECT, Permission.SET_ATTRIBUTES),
                attributes(ServiceAction.SET_ATTRIBUTES, PARTITION, Permission.SET_ATTRIBUTES),
                attributes(ServiceAction.SET_ATTRIBUTES, ObjectId.ROOT,
                        Permission.SET_ATTRIBUTES),
                attributes(ServiceAction.GET_MEMBER_ATTRIBUTES, COLLECTION,
                        Permission.MULTI_OBJECT, Permission.GET_ATTRIBUTES),
                attributes(ServiceAction.SET_MEMBER_ATTRIBUTES, COLLECTION,
                        Permission.MULTI_OBJECT, Permission.SET_ATTRIBUTES),
                attributes(ServiceAction.REMOVE_MEMBER_OBJECTS, COLLECTION,
                        Permission.MULTI_OBJECT, Permission.REMOVE),
                Needs.of(common -> new StructureCheckCommand(common, 0, 0),
                        Permission.OBJECT_MANAGEMENT),
                Needs.of(common -> new StructureCheckCommand(common, SecuredFixture.PARTITION, 0),
                        Permission.OBJECT_MANAGEMENT),
                Needs.of(common -> new PerformScsiCommand(common, ObjectId.ROOT,
                        Bytes.of(new byte[16])), Permission.DEVICE_MANAGEMENT),
                Needs.of(common -> new PerformTaskManagementCommand(common, ObjectId.ROOT, 8, 1,
                        0), Permission.DEVICE_MANAGEMENT),
                setKey(KeyLevel.WORKING, SecuredFixture.PARTITION, Permission.POLICY_SECURITY),
                setKey(KeyLevel.PARTITION, SecuredFixture.PARTITION, Permission.POLICY_SECURITY,
                        Permission.DEVICE_MANAGEMENT),
                setKey(KeyLevel.ROOT, 0, Permission.POLICY_SECURITY,
                        Permission.DEVICE_MANAGEMENT),
                remove(ServiceAction.REMOVE, OBJECT, false, Permission.REMOVE),
                remove(ServiceAction.REMOVE_COLLECTION, COLLECTION, true, Permission.REMOVE),
                remove(ServiceAction.REMOVE_PARTITION, PARTITION, true, Permission.REMOVE,
                        Permission.GLOBAL_REMOVE),
                Needs.of(common -> new FormatOsdCommand(common, 0, 0),
                        Permission.OBJECT_MANAGEMENT, Permission.GLOBAL));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldRefuseCommandWithoutOneOfItsPermissions(Needs needs) {
        ObjectId object = needs.make().apply(CommonFields.of(OsdVersion.OSD_2)).object();
        for (Permission missing : needs.permissions()) {
            Set<Permission> others = EnumSet.complementOf(EnumSet.of(missing));
            device.capability(all -> Capabilities.withPermissions(all, others));
            device.run(needs.make()).invalidField(PERMISSIONS_AT, object).completed();
        }
        device.capability(all -> Capabilities.withPermissions(all, needs.permissions()));
        Reply reply = device.run(needs.make());
        boolean admitted = reply.sense().fieldPointer()
                .map(field -> !field.inCdb() || field.byteAt() < 80).orElse(true);
        assertThat(admitted).as(reply.sense().toString()).isTrue();
    }

    @Test
    void shouldCoverEveryCommand() {
        Set<ServiceAction> covered = EnumSet.of(ServiceAction.SET_MASTER_KEY); // not supported
        commands().forEach(needs -> covered
                .add(needs.make().apply(CommonFields.of(OsdVersion.OSD_2)).action()));
        for (ServiceAction action : ServiceAction.values()) {
            assertThat(covered.contains(action)).as(action.toString())
                    .isEqualTo(action.hasLayout());
        }
    }

    // --- attributes ---

    private Reply with(AttributeParameters attributes, byte[] out, Permission... permissions) {
        device.capability(all -> Capabilities.withPermissions(all, Set.of(permissions)));
        return device.send(device.seal(common -> new ByteRangeCommand(ServiceAction.READ, common,
                OBJECT, 0, 0, 0), attributes, out, SecuredFixture.nonce()));
    }

    private static AttributeParameters set(AttributeId id) {
        return new FieldParameters(new Attribute(id, Bytes.of((byte) 0, (byte) 0, (byte) 0,
                (byte) 1)));
    }

    @Test
    void shouldNeedPermissionsForAttributesBesideACommand() {
        var page = PageParameters.get(StandardPage.USER_OBJECT_INFORMATION.number(),
                new BufferPart(0, 256));
        with(page, new byte[0], Permission.READ).invalidField(PERMISSIONS_AT, OBJECT);
        with(page, new byte[0], Permission.READ, Permission.GET_ATTRIBUTES).isGood();
        with(PageParameters.get(StandardPage.CURRENT_COMMAND.number(), new BufferPart(0, 256)),
                new byte[0],
                Permission.READ).isGood();
        with(set(APPLICATION), new byte[0], Permission.READ, Permission.GET_ATTRIBUTES)
                .invalidField(PERMISSIONS_AT, OBJECT);
        with(set(APPLICATION), new byte[0], Permission.READ, Permission.SET_ATTRIBUTES).isGood();
        AttributeId tag = UserObjectAttribute.POLICY_ACCESS_TAG.id();
        with(set(tag), new byte[0], Permission.READ, Permission.SET_ATTRIBUTES)
                .invalidField(PERMISSIONS_AT, OBJECT);
        with(set(tag), new byte[0], Permission.READ, Permission.SET_ATTRIBUTES,
                Permission.POLICY_SECURITY).isGood();
    }

    @Test
    void shouldLimitCapabilityToListOfAttributes() {
        var list = new AttributeId(StandardPage.PARTITION_ATTRIBUTES_ACCESS.number(), 7);
        setAttribute(PARTITION, new Attribute(list, Bytes.ofHex("00010000 00000001")));
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_USER_OBJECT, 7, 0, 0, OBJECT, 0, 0)));
        assertAttribute(APPLICATION, true);
        assertAttribute(new AttributeId(0x1_0000, 2), false);
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_USER_OBJECT, 8, 0, 0, OBJECT, 0, 0)));
        assertAttribute(APPLICATION, false); // a list that is not there permits nothing
    }

    @Test
    void shouldLimitQueryToListOfAttributes() {
        var list = new AttributeId(StandardPage.PARTITION_ATTRIBUTES_ACCESS.number(), 7);
        setAttribute(PARTITION, new Attribute(list, Bytes.ofHex("00010000 00000001")));
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_COLLECTION, 7, 0, 0, COLLECTION, 0, 0)));
        query(APPLICATION).isGood();
        query(APPLICATION, new AttributeId(0x1_0000, 2)).invalidField(136, COLLECTION);
    }

    private Reply query(AttributeId... compared) {
        byte[] segment = ContinuationSegment.of(ServiceAction.QUERY, new QueryList(true,
                Stream.of(compared).map(id -> new QueryList.Criterion(id, Bytes.EMPTY,
                        Bytes.EMPTY)).toList()))
                .bytes();
        SecuredFixture.Sealed sealed = device.seal(common -> new QueryCommand(common, COLLECTION,
                64, 0, false, segment.length), ListParameters.NONE, segment,
                SecuredFixture.nonce());
        IntegrityValues.sealContinuation(sealed.key(), sealed.nonce(),
                MemorySegment.ofArray(segment));
        return device.send(sealed);
    }

    private void assertAttribute(AttributeId id, boolean permitted) {
        Reply reply = device.send(device.seal(common -> new AttributesCommand(
                ServiceAction.SET_ATTRIBUTES, common, OBJECT, false, 0), set(id), new byte[0],
                SecuredFixture.nonce()));
        if (permitted) {
            reply.isGood();
        } else {
            reply.invalidField(136, OBJECT);
        }
    }

    /** Sets an attribute by a capability that permits all. */
    private void setAttribute(ObjectId object, Attribute attribute) {
        setAt(System.currentTimeMillis(), object, attribute).isGood();
    }

    private Reply setAt(long nonceMs, ObjectId object, Attribute attribute) {
        device.capability(all -> all);
        return device.send(device.seal(common -> new AttributesCommand(
                ServiceAction.SET_ATTRIBUTES, common, object, false, 0),
                new FieldParameters(attribute), new byte[0], SecuredFixture.nonce(nonceMs)));
    }

    /** Succeeds with a nonce of now, which may be a second old: where that has passed, it is sent again. */
    private static void assertGoodWithinASecond(LongFunction<Reply> command) {
        long begunMs;
        Reply reply;
        do {
            begunMs = System.currentTimeMillis();
            reply = command.apply(begunMs);
        } while (reply.status() != Status.GOOD && System.currentTimeMillis() - begunMs >= 1000);
        reply.isGood();
    }

    // --- object, times, tags ---

    private Reply read() { return device.send(device.reading(0, 0)); }

    private void descriptor(int type, ObjectId allowed) {
        device.capability(all -> Capabilities.withObject(all, ObjectDescriptor.of(type, allowed)));
    }

    @Test
    void shouldRefuseCapabilityOfAnotherObject() {
        device.capability(
                all -> Capabilities.withType(all, ObjectType.COLLECTION.code()));
        read().invalidField(128, OBJECT);
        descriptor(ObjectDescriptor.TYPE_NONE, OBJECT);
        read().invalidField(135, OBJECT);
        descriptor(ObjectDescriptor.TYPE_COLLECTION, OBJECT);
        read().invalidField(135, OBJECT);
        descriptor(ObjectDescriptor.TYPE_USER_OBJECT, new ObjectId(0x1_0001, OBJECT.object()));
        read().invalidField(152, OBJECT);
        descriptor(ObjectDescriptor.TYPE_USER_OBJECT, new ObjectId(OBJECT.partition(), 0));
        read().invalidField(160, OBJECT);
        descriptor(ObjectDescriptor.TYPE_PARTITION, OBJECT);
        read().invalidField(160, OBJECT);
        descriptor(ObjectDescriptor.TYPE_PARTITION, PARTITION); // all user objects of the partition
        read().isGood();
    }

    @Test
    void shouldRefuseUserObjectCapabilityForCollection() {
        Reply reply = device.run(common -> new AttributesCommand(ServiceAction.GET_ATTRIBUTES,
                common, COLLECTION, false, 0)); // made out for a user object of this identifier
        reply.invalidField(128, COLLECTION);
    }

    @Test
    void shouldRefuseExpiredCapability() {
        long now = System.currentTimeMillis();
        device.capability(all -> Capabilities.withTimes(all, now - 1, 0));
        read().invalidField(84, OBJECT);
        device.capability(all -> Capabilities.withTimes(all, now + 3_600_000, 0));
        read().isGood();
    }

    @Test
    void shouldRefuseCapabilityOfAnObjectThatWasCreatedAtAnotherTime() {
        long created = device.created(OBJECT);
        device.capability(all -> Capabilities.withTimes(all, 0, created - 1));
        read().invalidField(122, OBJECT);
        device.capability(all -> Capabilities.withTimes(all, 0, created));
        read().isGood();
    }

    private void tag(long value) {
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_USER_OBJECT, 0, value, 0, OBJECT, 0, 0)));
    }

    @Test
    void shouldComparePolicyAccessTags() {
        tag(7);
        read().invalidField(140, OBJECT);
        setAttribute(PARTITION, new Attribute(
                PartitionAttribute.USER_OBJECT_POLICY_ACCESS_TAG.id(), Bytes.ofHex("00000007")));
        tag(7);
        read().isGood();
        setAttribute(OBJECT, new Attribute(UserObjectAttribute.POLICY_ACCESS_TAG.id(),
                Bytes.ofHex("00000008")));
        tag(7);
        read().invalidField(140, OBJECT);
        tag(8);
        read().isGood();
        tag(0);
        read().isGood();
    }

    @Test
    void shouldCompareBootEpoch() {
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_USER_OBJECT, 0, 0, 2, OBJECT, 0, 0)));
        read().invalidField(144, OBJECT);
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_USER_OBJECT, 0, 0, 1, OBJECT, 0, 0)));
        read().isGood();
    }

    @Test
    void shouldNeedCapabilityForBothCollectionsOfACommand() throws Exception {
        var other = new ObjectId(SecuredFixture.PARTITION, 0x2_0001);
        var tracking = new ObjectId(SecuredFixture.PARTITION, 0x2_0002);
        device.run(common -> new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, common,
                other, 0, false, 0)).isGood();
        tag(COLLECTION);
        Function<CommonFields, OsdCdb> query = common -> new QueryCommand(common, COLLECTION, 64,
                other.object(), false, 0);
        Function<CommonFields, OsdCdb> create = common -> new CreateCollectionCommand(
                ServiceAction.CREATE_USER_TRACKING_COLLECTION, common, tracking,
                COLLECTION.object(), false, 0);

        descriptor(ObjectDescriptor.TYPE_COLLECTION, COLLECTION);
        device.run(query).invalidField(160, COLLECTION);
        descriptor(ObjectDescriptor.TYPE_COLLECTION, tracking);
        device.run(create).invalidField(160, tracking);

        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_PARTITION, 0, 7, 0, PARTITION, 0, 0)));
        device.run(query).invalidField(140, COLLECTION);
        tag(other);
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_PARTITION, 0, 7, 0, PARTITION, 0, 0)));
        device.run(query).illegal(AdditionalSense.PARAMETER_LIST_LENGTH_ERROR, COLLECTION);
        descriptor(ObjectDescriptor.TYPE_PARTITION, PARTITION);
        device.run(create).isGood();
    }

    private void tag(ObjectId collection) throws Exception {
        boolean _ = device.osd.store.<Boolean, RuntimeException>change(objects -> {
            objects.setAttribute(collection, CollectionAttribute.POLICY_ACCESS_TAG.id(),
                    Bytes.ofHex("00000007"));
            return true;
        });
    }

    // --- ranges ---

    private Reply within(ServiceAction action, long start, int length) {
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_USER_OBJECT, 0, 0, 0, OBJECT, 16, 32)));
        byte[] out = action == ServiceAction.WRITE || action == ServiceAction.APPEND
                ? new byte[length]
                : new byte[0];
        return device.send(device.seal(common -> new ByteRangeCommand(action, common, OBJECT,
                length, start, 0), ListParameters.NONE, out, SecuredFixture.nonce()));
    }

    @Test
    void shouldLimitCapabilityToRange() {
        within(ServiceAction.WRITE, 32, 16).isGood();
        within(ServiceAction.WRITE, 40, 8).isGood();
        within(ServiceAction.READ, 32, 16).isGood();
        for (int start : List.of(0, 31, 33, 48)) {
            within(ServiceAction.WRITE, start, 16).invalidField(168, OBJECT);
            within(ServiceAction.READ, start, 16).invalidField(168, OBJECT);
            within(ServiceAction.CLEAR, start, 16).invalidField(168, OBJECT);
        }
        within(ServiceAction.PUNCH, 32, 16).invalidField(168, OBJECT);
        within(ServiceAction.APPEND, 0, 4).invalidField(168, OBJECT);
        device.run(common -> new ReadMapCommand(common, OBJECT, 64, 32, 0))
                .invalidField(168, OBJECT);
        device.send(device.seal(common -> new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                common, OBJECT, false, 0),
                new FieldParameters(new Attribute(UserObjectAttribute.LOGICAL_LENGTH.id(),
                        Bytes.of(new byte[8]))),
                new byte[0], SecuredFixture.nonce())).invalidField(168, OBJECT);
    }

    @Test
    void shouldNotTakeAnotherRangeFromScatterGatherList() throws Exception {
        byte[] data = "0123456789abcdef".repeat(4).getBytes(US_ASCII);
        device.send(device.writing(0, data)).isGood();
        device.capability(all -> Capabilities.withObject(all, new ObjectDescriptor(
                ObjectDescriptor.TYPE_USER_OBJECT, 0, 0, 0, OBJECT, 16, 32)));
        for (var extents : List.of(List.of(new ScatterGather.Extent(32, 1)),
                List.<ScatterGather.Extent>of())) {
            for (var action : List.of(ServiceAction.CLEAR, ServiceAction.PUNCH,
                    ServiceAction.APPEND)) {
                byte[] segment = ContinuationSegment.of(action, new ScatterGather(extents))
                        .bytes();
                byte[] out = Arrays.copyOf(segment, segment.length + data.length);
                SecuredFixture.Sealed sealed = device.seal(
                        common -> new ByteRangeCommand(action, common, OBJECT, data.length, 0,
                                segment.length),
                        ListParameters.NONE, out, SecuredFixture.nonce());
                IntegrityValues.sealContinuation(sealed.key(), sealed.nonce(),
                        MemorySegment.ofArray(out).asSlice(0, segment.length));
                device.send(sealed).invalidParameter(ContinuationSegment.HEADER_LENGTH, OBJECT);
            }
        }
        assertThat(device.stored()).isEqualTo(data);
    }

    // --- policies of a partition ---

    @Test
    void shouldRefuseFrozenWorkingKey() {
        setAttribute(PARTITION, new Attribute(PartitionAttribute.FROZEN_WORKING_KEYS.id(),
                Bytes.ofHex("0002")));
        read().isGood();
        device.keyVersion(1);
        read().illegal(KEY_FROZEN, OBJECT);
    }

    @Test
    void shouldRequireMethodOfPartition() {
        setAttribute(PARTITION, new Attribute(PartitionAttribute.DEFAULT_SECURITY_METHOD.id(),
                Bytes.of((byte) SecurityMethod.ALLDATA.code())));
        read().invalidField(82, OBJECT);
        device.capability(all -> Capabilities.withMethod(all, SecurityMethod.ALLDATA.code()));
        read().isGood();
    }

    @Test
    void shouldTakeLimitsOfNoncesFromAttributes() {
        setAttribute(ObjectId.ROOT, new Attribute(RootAttribute.OLDEST_VALID_NONCE_LIMIT.id(),
                Bytes.ofHex("000000007530"))); // 30 s
        long now = System.currentTimeMillis();
        device.send(device.seal(common -> new ByteRangeCommand(ServiceAction.READ, common, OBJECT,
                0, 0, 0), ListParameters.NONE, new byte[0], SecuredFixture.nonce(now - 60_000)))
                .illegal(new AdditionalSense(0x24, 0x07), OBJECT);
        setAttribute(PARTITION, new Attribute(PartitionAttribute.OLDEST_VALID_NONCE.id(),
                Bytes.ofHex("0000000f4240")));
        device.send(device.seal(common -> new ByteRangeCommand(ServiceAction.READ, common, OBJECT,
                0, 0, 0), ListParameters.NONE, new byte[0], SecuredFixture.nonce(now - 60_000)))
                .isGood();
    }

    private Reply readAt(long nonceMs) {
        return device.send(device.seal(common -> new ByteRangeCommand(ServiceAction.READ, common,
                OBJECT, 0, 0, 0), ListParameters.NONE, new byte[0],
                SecuredFixture.nonce(nonceMs)));
    }

    private static final List<AttributeId> NONCE_LIMITS = List.of(
            RootAttribute.OLDEST_VALID_NONCE_LIMIT.id(),
            RootAttribute.NEWEST_VALID_NONCE_LIMIT.id(),
            PartitionAttribute.OLDEST_VALID_NONCE.id(),
            PartitionAttribute.NEWEST_VALID_NONCE.id());

    private static ObjectId ofLimit(AttributeId limit) {
        return limit.page() == StandardPage.ROOT_POLICY_SECURITY.number()
                ? ObjectId.ROOT
                : PARTITION;
    }

    @Test
    void shouldRefuseLimitsOfNoncesThatLockOutOrAdmitAnyTime() {
        for (AttributeId limit : NONCE_LIMITS) {
            ObjectId object = ofLimit(limit);
            for (String value : List.of("000000000000", "0000000003e7", "000005265c01",
                    "ffffffffffff")) {
                Reply reply = device.send(device.seal(common -> new AttributesCommand(
                        ServiceAction.SET_ATTRIBUTES, common, object, false, 0),
                        new FieldParameters(new Attribute(limit, Bytes.ofHex(value))),
                        new byte[0], SecuredFixture.nonce()));
                reply.invalidField(60, object);
            }
            setAttribute(object, new Attribute(limit, Bytes.ofHex("0000000003e8")));
            assertGoodWithinASecond(now -> setAt(now, object,
                    new Attribute(limit, Bytes.ofHex("0000000927c0"))));
            setAttribute(object, new Attribute(limit, Bytes.EMPTY));
        }
    }

    @Test
    void shouldBoundLimitsOfNoncesThatWereStoredBefore() throws Exception {
        AdditionalSense outOfRange = new AdditionalSense(0x24, 0x07);
        for (String value : List.of("ffffffffffff", "000000000000")) {
            boolean _ = device.osd.store.<Boolean, RuntimeException>change(objects -> {
                for (AttributeId limit : NONCE_LIMITS) {
                    objects.setAttribute(ofLimit(limit), limit, Bytes.ofHex(value));
                }
                return true;
            });
            long now = System.currentTimeMillis();
            readAt((1L << 48) - 1).illegal(outOfRange, OBJECT);
            readAt(now + 700_000).illegal(outOfRange, OBJECT);
            readAt(now - 87_000_000).illegal(outOfRange, OBJECT);
            assertGoodWithinASecond(this::readAt);
        }
    }
}
