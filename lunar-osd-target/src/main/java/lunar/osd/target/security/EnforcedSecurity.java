package lunar.osd.target.security;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.LongSupplier;
import lunar.block.StorageException;
import lunar.osd.security.Credential;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.IntegrityValues;
import lunar.osd.security.SecretKey;
import lunar.osd.security.SigningKey;
import lunar.osd.store.ObjectReader;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectWriter;
import lunar.osd.target.attribute.SystemId;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.EncodedOffset;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.DataIntegrity;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;

/** CAPKEY, CMDRSP and ALLDATA: a command needs a capability, and proof that its sender has the key of it. */
public final class EnforcedSecurity implements DeviceSecurity {
    /** How much older than the clock a nonce may be unless an attribute says otherwise. */
    static final long OLDEST_MS = 300_000;
    /** How much newer than the clock a nonce may be unless an attribute says otherwise. */
    static final long NEWEST_MS = 60_000;
    /** Most nonces that are remembered. */
    static final int MAX_NONCES = 1 << 17;

    private static final int MAX_EPOCH = 0xffff;
    private static final int KEY_ID_LENGTH = SetKeyCommand.KEY_ID_LENGTH;
    private static final ObjectPolicy.NonceLimits LIMITS = new ObjectPolicy.NonceLimits(OLDEST_MS,
            NEWEST_MS);

    private final ObjectStore store;
    private final UUID device;
    private final SecurityMethod method;
    private final LongSupplier clock;
    private final KeyHierarchy keys;
    private final int bootEpoch;
    private final NonceWindow nonces;
    private final NonceMark mark;
    private final MisuseLog log;
    private final Bytes masterKeyId;
    private volatile Bytes systemId;

    private EnforcedSecurity(ObjectStore store, SecurityMethod method, SecretKey master,
            LongSupplier clock, Start start) {
        this.store = store;
        this.method = method;
        this.clock = clock;
        device = store.identity();
        keys = new KeyHierarchy(store, master);
        bootEpoch = start.epoch();
        nonces = new NonceWindow(MAX_NONCES, start.markMs());
        mark = new NonceMark(store, start.markMs());
        log = new MisuseLog("object store " + device, clock);
        masterKeyId = Bytes.of(
                SetKey.fingerprint(master).segment().asSlice(0, KEY_ID_LENGTH));
        systemId = start.systemId();
    }

    /** State of the store at a start of the device. */
    private record Start(int epoch, long markMs, Bytes systemId) {}

    /**
     * Starts the security of a device.
     *
     * @param method lowest method that commands may use, not NOSEC
     * @param master the master key
     * @param replace whether the master key may be another than before, which invalidates all keys and credentials
     * @param clock the device's clock, in milliseconds since 1970 UTC
     * @throws IOException if the master key is another, or the store fails
     */
    public static EnforcedSecurity open(ObjectStore store, SecurityMethod method,
            SecretKey master, boolean replace, LongSupplier clock) throws IOException {
        Bytes fingerprint = SetKey.fingerprint(master);
        Start start = store.<Start, IOException>change(objects -> {
            Bytes before = objects.attribute(ObjectId.ROOT, SecretAttribute.MASTER_FINGERPRINT);
            if (before.length() > 0 && !replace && !before.equals(fingerprint)) {
                throw new IOException("the master key is not the one that the object store "
                        + store.identity() + " was served with before; give it the right key file,"
                        + " or add replace-key=true to invalidate all credentials");
            }
            int epoch = (int) Values.number(
                    objects.attribute(ObjectId.ROOT, SecretAttribute.BOOT_EPOCH)) % MAX_EPOCH + 1;
            objects.setAttribute(ObjectId.ROOT, SecretAttribute.MASTER_FINGERPRINT, fingerprint);
            objects.setAttribute(ObjectId.ROOT, SecretAttribute.BOOT_EPOCH,
                    Values.number(epoch, 2));
            return new Start(epoch,
                    Values.number(objects.attribute(ObjectId.ROOT, SecretAttribute.NONCE_MARK)),
                    SystemId.of(objects, store.identity()));
        });
        store.flush();
        return new EnforcedSecurity(store, method, master, clock, start);
    }

    @Override
    public boolean isOn() { return true; }

    // --- admission ---

    @Override
    public Admission admit(SecuredRequest request) throws StorageException {
        CommandSeal seal = CommandSeal.NONE;
        try {
            var rules = new CapabilityRules(request.command());
            SecurityMethod used = rules.method(method);
            Signer signer = signer(request.command());
            Bytes key = capabilityKey(request, signer.key());
            checkRequest(request, used, key);
            seal = CommandSeal.of(used, key, request.command());
            ObjectPolicy policy = store.<ObjectPolicy, RuntimeException>query(
                    objects -> ObjectPolicy.read(objects, request, LIMITS));
            long now = clock.getAsLong();
            if (used.compareTo(SecurityMethod.CMDRSP) >= 0) {
                checkNonce(request.command().common().security().nonce(), policy, now);
                checkDataOut(request, used, key);
            }
            checkKey(request.command(), signer, policy);
            rules.check(request, policy, bootEpoch, now);
            return new Admission(seal, Optional.empty());
        } catch (Refusal e) {
            log.refused(request.command(), request.initiator(), e.why());
            return new Admission(seal, Optional.of(e.sense()));
        }
    }

    /**
     * The key that signs the credential of a command.
     *
     * @param createdMs for a key of a partition, when the partition was created that it is the key of
     */
    private record Signer(SecretKey key, OptionalLong createdMs) {
        static Signer above(SecretKey key) { return new Signer(key, OptionalLong.empty()); }

        static Signer of(PartitionKeys partition, SecretKey key) {
            return new Signer(key, OptionalLong.of(partition.createdMs()));
        }
    }

    private Signer signer(OsdCdb command) throws StorageException {
        return switch (SigningKey.of(command)) {
            case MASTER -> Signer.above(keys.master());
            case ROOT -> Signer.above(keys.root().key());
            case PARTITION -> {
                PartitionKeys partition = keys.of(command.object().partition());
                yield Signer.of(partition, partition.partition().key());
            }
            case WORKING -> {
                PartitionKeys partition = keys.of(command.object().partition());
                yield Signer.of(partition, partition.working()
                        .get(command.common().capability().keyVersion()).key());
            }
        };
    }

    /** Computes the key that an issuer has put into the credential of the capability. */
    private Bytes capabilityKey(SecuredRequest request, SecretKey signing) {
        OsdVersion version = request.command().common().version();
        return Credential.capabilityKey(
                request.cdb().asSlice(Capability.AT, version.capabilityLength()),
                systemId, signing.authentication());
    }

    private static void checkRequest(SecuredRequest request, SecurityMethod used, Bytes key)
            throws Refusal {
        OsdVersion version = request.command().common().version();
        Bytes value = used == SecurityMethod.CAPKEY
                ? IntegrityValues.ofToken(key, request.token())
                : IntegrityValues.ofCdb(key, request.cdb(), version);
        if (!IntegrityCheck.matches(value,
                request.command().common().security().integrityCheckValue())) {
            throw Refusal.integrity(version);
        }
    }

    private void checkNonce(RequestNonce nonce, ObjectPolicy policy, long now)
            throws Refusal, StorageException {
        switch (nonces.admit(nonce, now, policy.oldestMs(), policy.newestMs())) {
            case UNIQUE -> mark.cover(nonce.timeMs());
            case REPEATED -> throw Refusal.nonceRepeated();
            case OUT_OF_RANGE -> throw Refusal.nonceOutOfRange();
        }
    }

    /** Refuses a command of a key that is frozen, or of a partition that was created again since its key was read. */
    private void checkKey(OsdCdb command, Signer signer, ObjectPolicy policy) throws Refusal {
        if (signer.createdMs().isEmpty()) {
            return;
        }
        if (signer.createdMs().getAsLong() != policy.partitionCreatedMs()) {
            keys.changed();
            throw Refusal.integrity(command.common().version());
        }
        if (SigningKey.of(command) == SigningKey.WORKING && (policy.frozenKeys()
                & 1 << command.common().capability().keyVersion()) != 0) {
            throw Refusal.keyFrozen();
        }
    }

    private void checkDataOut(SecuredRequest request, SecurityMethod used, Bytes key)
            throws Refusal {
        OsdCdb command = request.command();
        RequestNonce nonce = command.common().security().nonce();
        long continuation = command.continuationLength();
        if (continuation > 0) {
            MemorySegment segment = request.dataOut().asSlice(0, continuation);
            if (!IntegrityCheck.matches(IntegrityValues.ofContinuation(key, nonce, segment),
                    IntegrityValues.continuationField(segment))) {
                throw Refusal.dataOutIntegrity();
            }
        }
        if (used == SecurityMethod.ALLDATA) {
            checkData(request, key);
        }
    }

    private void checkData(SecuredRequest request, Bytes key) throws Refusal {
        OsdCdb command = request.command();
        MemorySegment data = request.data().slice(request.dataOut());
        MemorySegment sets = sets(command).slice(request.dataOut());
        MemorySegment gets = gets(command).slice(request.dataOut());
        if (data.byteSize() + sets.byteSize() + gets.byteSize() == 0) {
            return;
        }
        BufferPart at = dataOutIntegrity(command).orElse(BufferPart.NONE);
        if (at.isEmpty() || at.end() > request.dataOut().byteSize()) {
            throw Refusal.dataOutIntegrity();
        }
        var info = DataIntegrity.decode(at.slice(request.dataOut()), DataIntegrity.OUT_PARTS,
                command.common().version());
        boolean right = info.lengths().get(0) == data.byteSize()
                && info.lengths().get(1) == sets.byteSize()
                && info.lengths().get(2) == gets.byteSize()
                && IntegrityCheck.matches(
                        IntegrityValues.ofData(key, command.common().security().nonce(), data,
                                sets, gets),
                        info.value());
        if (!right) {
            throw Refusal.dataOutIntegrity();
        }
    }

    private static BufferPart sets(OsdCdb command) {
        return switch (command.common().attributes()) {
            case FieldParameters _ -> BufferPart.NONE;
            case ListParameters list -> list.setList();
            case PageParameters page -> page.setValue();
        };
    }

    private static BufferPart gets(OsdCdb command) {
        return command.common().attributes() instanceof ListParameters list
                ? list.getList()
                : BufferPart.NONE;
    }

    @Override
    public Optional<BufferPart> dataOutIntegrity(OsdCdb command) {
        return integrity(command, command.common().security().dataOutOffset(),
                DataIntegrity.OUT_PARTS);
    }

    @Override
    public Optional<BufferPart> dataInIntegrity(OsdCdb command) {
        return integrity(command, command.common().security().dataInOffset(),
                DataIntegrity.IN_PARTS);
    }

    private static Optional<BufferPart> integrity(OsdCdb command, int offset, int parts) {
        boolean none = command.common().capability().securityMethod() != SecurityMethod.ALLDATA
                .code() || offset == EncodedOffset.UNUSED;
        if (none) {
            return Optional.of(BufferPart.NONE);
        }
        OsdVersion version = command.common().version();
        OptionalLong at = EncodedOffset.decode(offset, version);
        return at.isEmpty()
                ? Optional.empty()
                : Optional.of(new BufferPart(at.getAsLong(),
                        DataIntegrity.length(parts, version)));
    }

    // --- keys ---

    @Override
    public void setKey(ObjectWriter objects, SetKeyCommand command) throws StorageException {
        keys.set(objects, command);
    }

    @Override
    public void changed() throws StorageException {
        keys.changed();
        systemId = store.<Bytes, RuntimeException>query(objects -> SystemId.of(objects, device));
    }

    @Override
    public Bytes systemId() { return systemId; }

    // --- attributes ---

    @Override
    public SecurityMethod method() { return method; }

    @Override
    public int bootEpoch() { return bootEpoch; }

    @Override
    public long oldestNonceMs() { return OLDEST_MS; }

    @Override
    public long newestNonceMs() { return NEWEST_MS; }

    @Override
    public int nonceDepth() { return MAX_EPOCH; }

    @Override
    public Bytes masterKeyId() { return masterKeyId; }

    @Override
    public Bytes rootKeyId(ObjectReader objects) throws StorageException {
        return keys.root(objects).id();
    }

    @Override
    public Bytes partitionKeyId(ObjectReader objects, long partition) throws StorageException {
        return keys.of(objects, partition).partition().id();
    }

    @Override
    public Bytes workingKeyId(ObjectReader objects, long partition, int version)
            throws StorageException {
        return keys.of(objects, partition).working().get(version).id();
    }
}
