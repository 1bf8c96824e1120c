package lunar.osd.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import lunar.osd.security.SecretKey;
import lunar.osd.security.SigningKey;
import lunar.osd.store.ObjectStore;
import lunar.osd.store.ObjectStores;
import lunar.osd.store.directory.DirectoryObjectStore;
import lunar.osd.store.directory.StoreOptions;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.command.SetMasterKeyCommand;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.RootAttribute;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys: SET KEY, what it invalidates, and what survives restarts. */
class SecurityKeysTest {
    private static final Bytes SEED = Bytes.ofHex("11".repeat(20));
    private static final Bytes KEY_ID = Bytes.ofHex("01020304050607");
    private static final int REQUEST_VALUE_AT = 184;
    private static final ObjectId OBJECT = SecuredFixture.OBJECT;
    private static final ObjectId PARTITION = ObjectId.ofPartition(SecuredFixture.PARTITION);

    private static Reply setKey(SecuredFixture device, KeyLevel level, int version) {
        return device.run(common -> new SetKeyCommand(common, level,
                level == KeyLevel.ROOT ? 0 : SecuredFixture.PARTITION, version, KEY_ID, SEED));
    }

    private static Reply read(SecuredFixture device) { return device.send(device.reading(0, 0)); }

    /** Signs with a key in place of the one that the device starts with. */
    private static void sign(SecuredFixture device, SigningKey which, SecretKey key) {
        Function<SigningKey, SecretKey> others = device.keys();
        device.keys(each -> each == which ? key : others.apply(each));
    }

    @Test
    void shouldInvalidateCredentialsOfTheKeyThatIsSet() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            SecuredFixture.Sealed before = device.reading(0, 0);
            setKey(device, KeyLevel.WORKING, 0).isGood();
            device.send(before).invalidField(REQUEST_VALUE_AT, OBJECT);
            read(device).invalidField(REQUEST_VALUE_AT, OBJECT);
            device.keyVersion(1);
            read(device).isGood(); // other working keys are as before
            device.keyVersion(0);
            sign(device, SigningKey.WORKING, device.partitionKey().derive(SEED));
            read(device).isGood();
            assertThat(attribute(device, PARTITION, PartitionAttribute.workingKeyId(0)))
                    .isEqualTo(KEY_ID);
            assertThat(attribute(device, PARTITION, PartitionAttribute.workingKeyId(1)))
                    .isEqualTo(Bytes.EMPTY);
        }
    }

    @Test
    void shouldInvalidateAllKeysBelow() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            setKey(device, KeyLevel.WORKING, 0).isGood();
            SecretKey working = device.partitionKey().derive(SEED);
            SecretKey root = device.keys().apply(SigningKey.ROOT);
            setKey(device, KeyLevel.PARTITION, 0).isGood();
            sign(device, SigningKey.WORKING, working);
            read(device).invalidField(REQUEST_VALUE_AT, OBJECT);
            sign(device, SigningKey.PARTITION, root.derive(SEED));
            setKey(device, KeyLevel.WORKING, 0).isGood();
            sign(device, SigningKey.WORKING, root.derive(SEED).derive(SEED));
            read(device).isGood();

            setKey(device, KeyLevel.ROOT, 0).isGood();
            read(device).invalidField(REQUEST_VALUE_AT, OBJECT);
            setKey(device, KeyLevel.PARTITION, 0)
                    .invalidField(REQUEST_VALUE_AT, PARTITION);
            sign(device, SigningKey.ROOT, SecuredFixture.MASTER.derive(SEED));
            setKey(device, KeyLevel.PARTITION, 0).isGood();
        }
    }

    @Test
    void shouldThawWorkingKeyThatIsSet() throws Exception {
        AdditionalSense frozen = new AdditionalSense(0x24, 0x05);
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            boolean _ = device.osd.store.<Boolean, RuntimeException>change(objects -> {
                objects.setAttribute(PARTITION, PartitionAttribute.FROZEN_WORKING_KEYS.id(),
                        Bytes.ofHex("ffff"));
                return true;
            });
            read(device).illegal(frozen, OBJECT);
            setKey(device, KeyLevel.WORKING, 0).isGood();
            device.keyVersion(1);
            read(device).illegal(frozen, OBJECT);
            device.keyVersion(0);
            sign(device, SigningKey.WORKING, device.partitionKey().derive(SEED));
            read(device).isGood();
            assertThat(attribute(device, PARTITION, PartitionAttribute.FROZEN_WORKING_KEYS.id()))
                    .isEqualTo(Bytes.ofHex("fffe"));
        }
    }

    @Test
    void shouldNotAcceptKeysOfPartitionThatWasCreatedAgain() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            setKey(device, KeyLevel.WORKING, 0).isGood();
            sign(device, SigningKey.WORKING, device.partitionKey().derive(SEED));
            read(device).isGood();
            device.run(common -> new RemoveCommand(ServiceAction.REMOVE_PARTITION, common,
                    PARTITION, true, 0)).isGood();
            device.run(common -> new CreatePartitionCommand(common, SecuredFixture.PARTITION, 0))
                    .isGood();
            device.run(common -> new CreateCommand(common, OBJECT, 0, 0))
                    .invalidField(REQUEST_VALUE_AT, OBJECT);
        }
    }

    /** The partition is created again between the look at its keys and that at its policy. */
    @Test
    void shouldNotAcceptKeysOfPartitionThatIsCreatedAgainMeanwhile() throws Exception {
        var meanwhile = new AtomicReference<Runnable>();
        ObjectStore store = InterceptedStore.of("query", (_, _) -> {
            Runnable run = meanwhile.getAndSet(null);
            if (run != null) {
                run.run();
            }
            return Optional.empty();
        });
        try (var device = new SecuredFixture(store, SecurityMethod.CAPKEY).withObject()) {
            SecuredFixture.Sealed create = device.seal(
                    common -> new CreateCommand(common, OBJECT, 0, 0), ListParameters.NONE,
                    new byte[0], SecuredFixture.nonce());
            SecuredFixture.Sealed remove = device.seal(
                    common -> new RemoveCommand(ServiceAction.REMOVE_PARTITION, common, PARTITION,
                            true, 0),
                    ListParameters.NONE, new byte[0], SecuredFixture.nonce());
            SecuredFixture.Sealed again = device.seal(
                    common -> new CreatePartitionCommand(common, SecuredFixture.PARTITION, 0),
                    ListParameters.NONE, new byte[0], SecuredFixture.nonce());
            read(device).isGood(); // the keys are cached
            long created = device.created(PARTITION);
            while (System.currentTimeMillis() == created) {
                Thread.onSpinWait();
            }
            meanwhile.set(() -> {
                device.send(remove).isGood();
                device.send(again).isGood();
            });
            device.send(create).invalidField(REQUEST_VALUE_AT, OBJECT);
            assertThat(meanwhile).hasNullValue();
        }
    }

    @Test
    void shouldRefuseKeysOfNoPartition() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP)) {
            device.run(common -> new SetKeyCommand(common, KeyLevel.PARTITION, 0, 0, KEY_ID, SEED))
                    .invalidField(16, ObjectId.ROOT);
            device.run(common -> new SetKeyCommand(common, KeyLevel.PARTITION, 0x9_0000, 0, KEY_ID,
                    SEED)).invalidField(16, ObjectId.ofPartition(0x9_0000));
            device.run(common -> new SetMasterKeyCommand(common, false, 1, KEY_ID, 0, 0))
                    .illegal(new AdditionalSense(0x20, 0), ObjectId.ROOT);
        }
    }

    @Test
    void shouldNotKnowSetKeyWithoutSecurity() throws Exception {
        try (var device = new OsdFixture()) {
            device.run(new SetKeyCommand(OsdFixture.v2(), KeyLevel.ROOT, 0, 0, KEY_ID, SEED))
                    .illegal(new AdditionalSense(0x20, 0), ObjectId.ROOT);
        }
    }

    // --- restarts ---

    @Test
    void shouldKeepKeysAndNoncesOverRestart(@TempDir Path directory) throws Exception {
        SecuredFixture.Sealed before;
        try (var device = new SecuredFixture(open(directory), SecurityMethod.CMDRSP)
                .withObject()) {
            setKey(device, KeyLevel.WORKING, 0).isGood();
            sign(device, SigningKey.WORKING, device.partitionKey().derive(SEED));
            before = device.reading(0, 0);
            device.send(before).isGood();
            assertThat(attribute(device, ObjectId.ROOT, RootAttribute.BOOT_EPOCH.id()))
                    .isEqualTo(Bytes.ofHex("0001"));
        }
        try (var device = new SecuredFixture(open(directory), SecurityMethod.CMDRSP)) {
            AdditionalSense outOfRange = new AdditionalSense(0x24, 0x07);
            device.send(before).illegal(outOfRange, OBJECT); // replayed: forgotten, but too old now
            sign(device, SigningKey.WORKING, device.partitionKey().derive(SEED));
            device.send(device.seal(common -> new AttributesCommand(ServiceAction.GET_ATTRIBUTES,
                    common, OBJECT, false, 0), ListParameters.NONE, new byte[0],
                    SecuredFixture.nonce(System.currentTimeMillis() + 30_000))).isGood();
        }
        try (var device = new SecuredFixture(open(directory), SecurityMethod.CAPKEY)) {
            sign(device, SigningKey.WORKING, device.partitionKey().derive(SEED));
            read(device).isGood();
            assertThat(attribute(device, ObjectId.ROOT, RootAttribute.BOOT_EPOCH.id()))
                    .isEqualTo(Bytes.ofHex("0003"));
        }
    }

    private static ObjectStore open(Path directory) throws IOException {
        return DirectoryObjectStore.open(directory.resolve("store"),
                new StoreOptions(true, false));
    }

    @Test
    void shouldKeepKeysOverFormat() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CAPKEY).withObject()) {
            setKey(device, KeyLevel.ROOT, 0).isGood();
            sign(device, SigningKey.ROOT, SecuredFixture.MASTER.derive(SEED));
            device.run(common -> new FormatOsdCommand(common, 0, 0)).isGood();
            assertThat(device.partitions()).isEmpty();
            device.run(common -> new CreatePartitionCommand(common, SecuredFixture.PARTITION, 0))
                    .isGood();
        }
    }

    @Test
    void shouldRefuseAnotherMasterKey() throws Exception {
        try (ObjectStore store = ObjectStores.inMemory()) {
            var first = new OsdFixture(OsdSpec.of(store).withSecurity(
                    OsdSecurity.of(SecurityMethod.CAPKEY, SecuredFixture.MASTER)), 4096);
            first.end();
            var other = SecretKey.of(Bytes.ofHex("17".repeat(40)));
            OsdSpec wrong = OsdSpec.of(store)
                    .withSecurity(OsdSecurity.of(SecurityMethod.CAPKEY, other));
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> new OsdFixture(wrong, 4096))
                    .withMessageContaining("replace-key=true").withMessageNotContaining("1717");
            var replaced = new OsdFixture(OsdSpec.of(store).withSecurity(
                    new OsdSecurity(SecurityMethod.CAPKEY, other, true)), 4096);
            replaced.end();
            var again = new OsdFixture(wrong, 4096);
            again.end();
        }
    }

    // --- secrets ---

    @Test
    void shouldNotTellKeys() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CAPKEY).withObject()) {
            setKey(device, KeyLevel.WORKING, 0).isGood();
            setKey(device, KeyLevel.ROOT, 0).isGood();
            sign(device, SigningKey.ROOT, SecuredFixture.MASTER.derive(SEED));
            String secret = HexFormat.of().formatHex(
                    SecuredFixture.MASTER.derive(SEED).authentication().toArray());
            for (ObjectId object : List.of(ObjectId.ROOT)) {
                for (int page : new int[]{AttributeId.ALL_PAGES, 0x9000_7f00, 0x3000_7f00,
                        0x9000_0000, 0x9000_0005}) {
                    byte[] got = get(device, object,
                            new AttributeId(page, AttributeId.ALL_NUMBERS));
                    assertThat(HexFormat.of().formatHex(got)).doesNotContain(secret);
                }
            }
            assertThat(attribute(device, ObjectId.ROOT, new AttributeId(0x9000_7f00, 4)))
                    .isEqualTo(Bytes.EMPTY);
            device.send(device.seal(common -> new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                    common, ObjectId.ROOT, false, 0),
                    new FieldParameters(new Attribute(new AttributeId(0x9000_7f00, 4),
                            Bytes.EMPTY)),
                    new byte[0], SecuredFixture.nonce())).invalidField(56, ObjectId.ROOT);
        }
    }

    private static byte[] get(SecuredFixture device, ObjectId object, AttributeId id) {
        byte[] get = new GetAttributesList(List.of(id)).bytes(OsdVersion.OSD_2);
        return device.send(device.seal(
                common -> new AttributesCommand(ServiceAction.GET_ATTRIBUTES, common, object,
                        false, 0),
                new ListParameters(new BufferPart(0, get.length), new BufferPart(0, 65536),
                        BufferPart.NONE),
                get, SecuredFixture.nonce())).isGood().data();
    }

    private static Bytes attribute(SecuredFixture device, ObjectId object, AttributeId id)
            throws Exception {
        return RetrievedAttributesList.decode(MemorySegment.ofArray(get(device, object, id)),
                OsdVersion.OSD_2).attributes().getFirst().value();
    }

    @Test
    void shouldDescribeItselfInAttributes() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            assertThat(attribute(device, ObjectId.ROOT,
                    RootAttribute.SUPPORTED_SECURITY_METHODS.id())).isEqualTo(Bytes.ofHex("000c"));
            assertThat(attribute(device, ObjectId.ROOT, RootAttribute.DEFAULT_SECURITY_METHOD.id()))
                    .isEqualTo(Bytes.ofHex("02"));
            assertThat(attribute(device, ObjectId.ROOT, RootAttribute.integrityAlgorithm(1)))
                    .isEqualTo(Bytes.ofHex("01"));
            assertThat(attribute(device, ObjectId.ROOT, RootAttribute.MASTER_KEY_ID.id()).length())
                    .isEqualTo(7);
            assertThat(attribute(device, PARTITION, PartitionAttribute.OLDEST_VALID_NONCE.id()))
                    .isEqualTo(Bytes.ofHex("0000000493e0")); // 300000 ms
        }
    }
}
