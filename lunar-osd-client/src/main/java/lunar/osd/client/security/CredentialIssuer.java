package lunar.osd.client.security;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import lunar.osd.security.Credential;
import lunar.osd.security.InitialSeeds;
import lunar.osd.security.SecretKey;
import lunar.osd.security.SigningKey;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.Bytes;

/**
 * The holder of a master key: issues the credentials of its own commands, each for one object and what the command
 * needs, and credentials for others. Keys are those that the device starts with, and those that an issuer with this
 * master key has set. Thread-safe.
 */
public final class CredentialIssuer implements CredentialSource {
    private static final int MAX_CACHED = 1024;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** The keys of a partition of a device. */
    private record PartitionKeys(SecretKey partition, List<SecretKey> working) {}

    private record Place(Bytes systemId, long partition) {}

    private final SecretKey master;
    private final SecurityMethod method;
    private final SecretKey root;
    private final Map<Place, PartitionKeys> partitions = new ConcurrentHashMap<>();

    /**
     * @param master the master key of the device
     * @param method method of the credentials: that which the device requires, or one that protects more
     */
    public CredentialIssuer(SecretKey master, SecurityMethod method) {
        this(master, method, master.derive(InitialSeeds.ofRoot()));
    }

    private CredentialIssuer(SecretKey master, SecurityMethod method, SecretKey root) {
        if (method == SecurityMethod.NOSEC) {
            throw new IllegalArgumentException("NOSEC needs no credentials");
        }
        this.master = master;
        this.method = method;
        this.root = root;
    }

    /** Returns an issuer for a device whose root key was set with the {@link #seed} of this identifier. */
    public CredentialIssuer withRootKey(Bytes keyId) {
        return new CredentialIssuer(master, method,
                master.derive(seed(KeyLevel.ROOT, 0, 0, keyId)));
    }

    /** Returns a new random identifier of a key. */
    public static Bytes newKeyId() {
        return random(SetKeyCommand.KEY_ID_LENGTH);
    }

    private static Bytes random(int length) {
        byte[] bytes = new byte[length];
        RANDOM.nextBytes(bytes);
        return Bytes.of(bytes);
    }

    /**
     * Returns the seed with which this issuer sets a key.
     *
     * @param partition Partition_ID; 0 for the root key
     * @param version number of the working key; 0 for others
     * @param keyId identifier of the new key
     */
    public Bytes seed(KeyLevel level, long partition, int version, Bytes keyId) {
        return KeySeeds.of(master, level, partition, version, keyId);
    }

    @Override
    public Credential credential(CredentialRequest request) throws IOException {
        ObjectType type = request.access().type();
        var grant = new Grant(type, request.command().object(), request.access().permissions(), 0,
                0, 0);
        Capability capability = grant.capability(method, random(Capability.DISCRIMINATOR_LENGTH));
        return sign(request.device(), capability, SigningKey.of(request.command()));
    }

    /** Issues a credential that can be given to somebody else. */
    public Credential issue(SecuredDevice device, Grant grant) throws IOException {
        return sign(device, grant.capability(method, random(Capability.DISCRIMINATOR_LENGTH)),
                grant.type() == ObjectType.ROOT ? SigningKey.ROOT : SigningKey.WORKING);
    }

    private Credential sign(SecuredDevice device, Capability capability, SigningKey signing)
            throws IOException {
        long partition = capability.object().allowed().partition();
        SecretKey key = switch (signing) {
            case MASTER -> master;
            case ROOT -> root;
            case PARTITION -> keys(device, partition).partition();
            case WORKING -> keys(device, partition).working().get(capability.keyVersion());
        };
        return Credential.issue(OsdVersion.OSD_2, capability, device.systemId(),
                key.authentication());
    }

    private PartitionKeys keys(SecuredDevice device, long partition) throws IOException {
        var place = new Place(device.systemId(), partition);
        PartitionKeys known = partitions.get(place);
        if (known != null) {
            return known;
        }
        PartitionKeys derived = derive(device.keyIds(partition), partition);
        if (partitions.size() >= MAX_CACHED) {
            partitions.clear();
        }
        partitions.put(place, derived);
        return derived;
    }

    private PartitionKeys derive(SecuredDevice.PartitionKeyIds ids, long partition) {
        SecretKey key = root.derive(ids.partitionKey().length() == 0
                ? InitialSeeds.ofPartition(partition, ids.createdMs())
                : seed(KeyLevel.PARTITION, partition, 0, ids.partitionKey()));
        var working = new ArrayList<SecretKey>();
        for (int i = 0; i < PartitionAttribute.WORKING_KEYS; i++) {
            Bytes id = ids.workingKeys().get(i);
            working.add(key.derive(id.length() == 0
                    ? InitialSeeds.ofWorkingKey(partition, ids.createdMs(), i)
                    : seed(KeyLevel.WORKING, partition, i, id)));
        }
        return new PartitionKeys(key, working);
    }

    @Override
    public void refused(CredentialRequest request) {
        ObjectId object = request.command().object();
        partitions.keySet().removeIf(place -> place.partition() == object.partition());
    }
}
