package lunar.osd.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import lunar.osd.security.Credential;
import lunar.osd.security.InitialSeeds;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.IntegrityValues;
import lunar.osd.security.RequiredAccess;
import lunar.osd.security.SecretKey;
import lunar.osd.security.SigningKey;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.store.Timestamp;
import lunar.osd.wire.EncodedOffset;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.osd.wire.security.SecurityParameters;
import lunar.scsi.Bytes;
import lunar.scsi.vpd.Inquiry;

/** A device with security, and a holder of its master key that seals commands. */
final class SecuredFixture implements AutoCloseable {
    static final SecretKey MASTER = SecretKey.of(Bytes.ofHex("5a".repeat(40)));
    static final long PARTITION = OsdFixture.PARTITION;
    static final ObjectId OBJECT = OsdFixture.OBJECT;

    private static final AtomicLong NONCES = new AtomicLong();

    final OsdFixture osd;
    final SecurityMethod method;
    private final Bytes systemId;
    private Bytes token;
    /** Changes the capability of the next commands before it is signed. */
    private UnaryOperator<Capability> change = UnaryOperator.identity();
    private SecretKey root = MASTER.derive(InitialSeeds.ofRoot());
    private Function<SigningKey, SecretKey> keys = this::key;
    private int keyVersion;

    SecuredFixture(SecurityMethod method) throws Exception {
        this(ObjectStores.inMemory(), method);
    }

    SecuredFixture(ObjectStore store, SecurityMethod method) throws Exception {
        this.method = method;
        osd = new OsdFixture(OsdSpec.of(store).withSecurity(OsdSecurity.of(method, MASTER)),
                OsdFixture.MAX_TRANSFER);
        systemId = vpd(0xb0);
        token = vpd(0xb1);
    }

    private Bytes vpd(int page) {
        byte[] data = osd.run(new Inquiry(true, page, 255)).isGood().data();
        return Bytes.of(MemorySegment.ofArray(data).asSlice(4));
    }

    /** Reads the security token of the nexus again. */
    void readToken() { token = vpd(0xb1); }

    Bytes token() { return token; }

    Bytes systemId() { return systemId; }

    SecuredFixture withObject() {
        run(common -> new CreatePartitionCommand(common, PARTITION, 0)).isGood();
        run(common -> new CreateCommand(common, OBJECT, 0, 0)).isGood();
        return this;
    }

    // --- keys ---

    private SecretKey key(SigningKey which) {
        return switch (which) {
            case MASTER -> MASTER;
            case ROOT -> root;
            case PARTITION -> partitionKey();
            case WORKING -> partitionKey().derive(
                    InitialSeeds.ofWorkingKey(PARTITION, createdMs(), keyVersion));
        };
    }

    SecretKey partitionKey() {
        return root.derive(InitialSeeds.ofPartition(PARTITION, createdMs()));
    }

    void root(SecretKey value) { root = value; }

    /** Signs by other keys; null for those that the device starts with. */
    void keys(Function<SigningKey, SecretKey> value) {
        keys = value;
    }

    Function<SigningKey, SecretKey> keys() { return keys; }

    void keyVersion(int value) { keyVersion = value; }

    private long createdMs() { return created(ObjectId.ofPartition(PARTITION)); }

    long created(ObjectId id) {
        try {
            return osd.store.<Long, RuntimeException>query(objects -> objects.find(id)
                    .map(found -> found.time(Timestamp.CREATED)).orElse(0L));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    // --- capabilities ---

    /** Changes the capabilities of further commands before they are signed. */
    SecuredFixture capability(UnaryOperator<Capability> how) {
        change = how;
        return this;
    }

    /** A capability for a command and all its attributes. */
    Capability capability(OsdCdb command) {
        RequiredAccess needed = RequiredAccess.of(command);
        Set<Permission> permissions = EnumSet.copyOf(needed.permissions());
        permissions.addAll(Set.of(Permission.GET_ATTRIBUTES, Permission.SET_ATTRIBUTES,
                Permission.POLICY_SECURITY));
        ObjectType type = needed.type();
        int descriptor = switch (type) {
            case ROOT, PARTITION -> ObjectDescriptor.TYPE_PARTITION;
            case COLLECTION -> ObjectDescriptor.TYPE_COLLECTION;
            case USER_OBJECT -> ObjectDescriptor.TYPE_USER_OBJECT;
        };
        ObjectId object = command.object();
        boolean usesTwo = command instanceof QueryCommand query && query.matches() != 0
                || command instanceof CreateCollectionCommand create && create.source() != 0;
        if (usesTwo) { // a capability for all collections
            descriptor = ObjectDescriptor.TYPE_PARTITION;
            object = ObjectId.ofPartition(object.partition());
        }
        return change.apply(new Capability(2, keyVersion, IntegrityCheck.HMAC_SHA1, method.code(),
                0, Bytes.of(new byte[20]), Bytes.of(new byte[12]), 0, type.code(), permissions,
                ObjectDescriptor.of(descriptor, object)));
    }

    // --- commands ---

    static RequestNonce nonce(long timeMs) {
        long number = NONCES.incrementAndGet();
        var random = MemorySegment.ofArray(new byte[8]);
        random.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, number);
        return new RequestNonce(timeMs, Bytes.of(random.asSlice(0, 6)));
    }

    static RequestNonce nonce() { return nonce(System.currentTimeMillis()); }

    /** A sealed command with its data-out. */
    record Sealed(byte[] cdb, byte[] out, Bytes key, RequestNonce nonce) {}

    Sealed seal(Function<CommonFields, OsdCdb> make, AttributeParameters attributes, byte[] out,
            RequestNonce nonce) {
        return seal(make, attributes, out, nonce, EncodedOffset.UNUSED, EncodedOffset.UNUSED);
    }

    /**
     * Seals a command.
     *
     * @param out data-out, complete but for the value of data integrity information
     */
    Sealed seal(Function<CommonFields, OsdCdb> make, AttributeParameters attributes, byte[] out,
            RequestNonce nonce, int dataInOffset, int dataOutOffset) {
        var v2 = OsdVersion.OSD_2;
        CommonFields plain = CommonFields.of(v2).withAttributes(attributes);
        OsdCdb bare = make.apply(plain);
        Capability capability = capability(bare);
        Bytes key = Credential.issue(v2, capability, systemId,
                keys.apply(SigningKey.of(bare)).authentication()).capabilityKey();
        OsdCdb command = make.apply(plain.withCapability(capability)
                .withSecurity(new SecurityParameters(Bytes.of(new byte[32]), nonce, dataInOffset,
                        dataOutOffset)));
        byte[] cdb = command.bytes();
        sign(cdb, key, capability);
        return new Sealed(cdb, out, key, nonce);
    }

    /** Writes the request integrity check value into a CDB. */
    void sign(byte[] cdb, Bytes key, Capability capability) {
        Bytes value = capability.securityMethod() == SecurityMethod.CAPKEY.code()
                ? IntegrityValues.ofToken(key, token)
                : IntegrityValues.ofCdb(key, MemorySegment.ofArray(cdb), OsdVersion.OSD_2);
        System.arraycopy(IntegrityCheck.field(value, 32).toArray(), 0, cdb, 184, 32);
    }

    Reply send(Sealed sealed) { return send(sealed.cdb(), sealed.out()); }

    Reply send(byte[] cdb, byte[] out) { return osd.run(cdb, out, OsdFixture.MAX_TRANSFER); }

    Reply run(Function<CommonFields, OsdCdb> make) {
        return send(seal(make, ListParameters.NONE, new byte[0], nonce()));
    }

    Sealed writing(long offset, byte[] data) {
        return seal(common -> new ByteRangeCommand(ServiceAction.WRITE, common, OBJECT,
                data.length, offset, 0), ListParameters.NONE, data, nonce());
    }

    Sealed reading(long offset, int length) {
        return seal(common -> new ByteRangeCommand(ServiceAction.READ, common, OBJECT, length,
                offset, 0), ListParameters.NONE, new byte[0], nonce());
    }

    /** The data of the object, as the store has them. */
    byte[] stored() throws Exception {
        byte[] data = new byte[(int) osd.store.length(OBJECT)];
        assertThat(osd.store.read(OBJECT, 0, MemorySegment.ofArray(data))).isEqualTo(data.length);
        return data;
    }

    List<Long> partitions() throws Exception {
        return osd.store.<List<Long>, RuntimeException>query(objects -> objects.partitions(0, 100));
    }

    @Override
    public void close() throws Exception { osd.close(); }
}
