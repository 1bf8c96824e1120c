package lunar.osd.target;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import lunar.osd.security.Credential;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.IntegrityValues;
import lunar.osd.security.SigningKey;
import lunar.osd.store.ObjectStore;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CreatePartitionCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.StandardPage;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.osd.wire.security.SecurityParameters;
import lunar.osd.wire.sense.ResponseIntegrityCheck;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which commands a device with security admits: integrity of requests, nonces, tokens. */
class SecurityTest {
    private static final byte[] DATA = "0123456789abcdef".getBytes(US_ASCII);
    private static final int REQUEST_VALUE_AT = 184;
    private static final AdditionalSense NONCE_NOT_UNIQUE = new AdditionalSense(0x24, 0x06);
    private static final AdditionalSense NONCE_OUT_OF_RANGE = new AdditionalSense(0x24, 0x07);

    /** Methods in which one command fits all. */
    static Stream<SecurityMethod> withoutData() {
        return Stream.of(SecurityMethod.CAPKEY, SecurityMethod.CMDRSP);
    }

    @ParameterizedTest
    @MethodSource("withoutData")
    void shouldAdmitCommandsWithTheirCapability(SecurityMethod method) throws Exception {
        try (var device = new SecuredFixture(method).withObject()) {
            device.send(device.writing(0, DATA)).isGood();
            assertThat(device.send(device.reading(0, DATA.length)).isGood().data())
                    .isEqualTo(DATA);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOSEC")
    void shouldRefuseCommandsWithoutCapability(SecurityMethod method) throws Exception {
        try (var device = new SecuredFixture(method)) {
            device.osd.run(new CreatePartitionCommand(OsdFixture.v2(), SecuredFixture.PARTITION, 0))
                    .invalidField(80, ObjectId.ofPartition(SecuredFixture.PARTITION));
            device.osd.run(new FormatOsdCommand(OsdFixture.v1(), 0, 0))
                    .invalidField(80, ObjectId.ROOT);
            assertThat(device.partitions()).isEmpty();
        }
    }

    @Test
    void shouldRefuseEveryFlippedBitOfSignedCdb() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            SecuredFixture.Sealed sealed = device.writing(0, DATA);
            for (int bit = 0; bit < 8 * sealed.cdb().length; bit++) {
                byte[] flipped = sealed.cdb().clone();
                flipped[bit / 8] ^= (byte) (1 << bit % 8);
                assertThat(device.send(flipped, DATA).status()).as("bit %d", bit)
                        .isEqualTo(Status.CHECK_CONDITION);
            }
            assertThat(device.stored()).isEmpty();
            device.send(sealed).isGood(); // no attempt has used up the nonce
        }
    }

    @Test
    void shouldRefuseEveryFlippedBitOfCapability() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CAPKEY).withObject()) {
            SecuredFixture.Sealed sealed = device.writing(0, DATA);
            for (int bit = 8 * 80; bit < 8 * (REQUEST_VALUE_AT + 32); bit++) {
                byte[] flipped = sealed.cdb().clone();
                flipped[bit / 8] ^= (byte) (1 << bit % 8);
                assertThat(device.send(flipped, DATA).status()).as("bit %d", bit)
                        .isEqualTo(Status.CHECK_CONDITION);
            }
            assertThat(device.stored()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("withoutData")
    void shouldReportWrongIntegrityValue(SecurityMethod method) throws Exception {
        try (var device = new SecuredFixture(method).withObject()) {
            SecuredFixture.Sealed sealed = device.writing(0, DATA);
            sealed.cdb()[REQUEST_VALUE_AT + 31] ^= 1;
            Reply reply = device.send(sealed).invalidField(REQUEST_VALUE_AT, SecuredFixture.OBJECT);
            reply.completed();
            assertThat(ResponseIntegrityCheck.of(reply.sense())).isEmpty();
            assertThat(device.stored()).isEmpty();
        }
    }

    @Test
    void shouldRefuseTruncatedCdbs() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            byte[] cdb = device.writing(0, DATA).cdb();
            for (int length = 16; length < cdb.length; length++) {
                byte[] truncated = Arrays.copyOf(cdb, length);
                assertThat(device.send(truncated, DATA).status()).as("%d bytes", length)
                        .isEqualTo(Status.CHECK_CONDITION);
                truncated[7] = (byte) (length - 8);
                assertThat(device.send(truncated, DATA).status()).isNotEqualTo(Status.GOOD);
            }
            assertThat(device.stored()).isEmpty();
        }
    }

    // --- nonces and tokens ---

    @Test
    void shouldRefuseReplayedCommands() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            SecuredFixture.Sealed first = device.writing(0, DATA);
            device.send(first).isGood();
            device.send(device.writing(0, new byte[DATA.length])).isGood();
            device.send(first).illegal(NONCE_NOT_UNIQUE, SecuredFixture.OBJECT);
            assertThat(device.stored()).isEqualTo(new byte[DATA.length]);
        }
    }

    @Test
    void shouldRefuseNoncesOfOtherTimes() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            long now = System.currentTimeMillis();
            for (long time : new long[]{0, now - 310_000, now + 120_000, (1L << 48) - 1}) {
                device.send(writing(device, SecuredFixture.nonce(time)))
                        .illegal(NONCE_OUT_OF_RANGE, SecuredFixture.OBJECT);
            }
            device.send(writing(device, SecuredFixture.nonce(now - 200_000))).isGood();
            device.send(writing(device, SecuredFixture.nonce(now + 30_000))).isGood();
        }
    }

    private static SecuredFixture.Sealed writing(SecuredFixture device, RequestNonce nonce) {
        return device.seal(common -> new ByteRangeCommand(ServiceAction.WRITE, common,
                SecuredFixture.OBJECT, DATA.length, 0, 0), ListParameters.NONE, DATA, nonce);
    }

    @Test
    void shouldIgnoreNoncesOfCapkey() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CAPKEY).withObject()) {
            SecuredFixture.Sealed sealed = writing(device, RequestNonce.NONE);
            device.send(sealed).isGood();
            device.send(sealed).isGood();
        }
    }

    @Test
    void shouldBindCapkeyToItsNexus() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CAPKEY).withObject()) {
            SecuredFixture.Sealed sealed = device.writing(0, DATA);
            Bytes before = device.token();
            assertThat(before.length()).isEqualTo(20);
            device.osd.logIn();
            device.send(sealed).invalidField(REQUEST_VALUE_AT, SecuredFixture.OBJECT);
            device.readToken();
            assertThat(device.token()).isNotEqualTo(before);
            device.send(device.writing(0, DATA)).isGood();
        }
    }

    // --- methods ---

    @Test
    void shouldRefuseLowerMethods() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            for (int lower : new int[]{0, 1, 4, 15}) {
                device.capability(capability -> Capabilities.withMethod(capability, lower));
                device.send(device.writing(0, DATA)).invalidField(82, SecuredFixture.OBJECT);
            }
            device.capability(capability -> Capabilities.withMethod(capability,
                    SecurityMethod.ALLDATA.code()));
            device.send(device.reading(0, 0)).isGood();
            assertThat(device.stored()).isEmpty();
        }
    }

    @Test
    void shouldRefuseOtherAlgorithmsAndFormats() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            device.capability(capability -> Capabilities.withAlgorithm(capability, 0));
            device.send(device.writing(0, DATA)).invalidField(81, SecuredFixture.OBJECT);
            device.capability(capability -> Capabilities.withFormat(capability, 1));
            device.send(device.writing(0, DATA)).invalidField(80, SecuredFixture.OBJECT);
            assertThat(device.stored()).isEmpty();
        }
    }

    /** The layout of OSD-1: a capability of 80 bytes, and values of 20. */
    @Test
    void shouldAdmitCommandsOfOsd1() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP)) {
            var v1 = OsdVersion.OSD_1;
            var id = ObjectId.ofPartition(SecuredFixture.PARTITION);
            var capability = new Capability(1, 0, 1, SecurityMethod.CMDRSP.code(), 0,
                    Bytes.of(new byte[20]), Bytes.of(new byte[12]), 0, 2,
                    Set.of(Permission.CREATE),
                    ObjectDescriptor.of(ObjectDescriptor.TYPE_PARTITION, id));
            Bytes key = Credential.issue(v1, capability, device.systemId(),
                    device.keys().apply(SigningKey.ROOT).authentication()).capabilityKey();
            byte[] cdb = new CreatePartitionCommand(OsdFixture.v1().withCapability(capability)
                    .withSecurity(new SecurityParameters(Bytes.of(new byte[20]),
                            SecuredFixture.nonce(), -1, -1)),
                    SecuredFixture.PARTITION, 0).bytes();
            device.send(cdb, new byte[0]).invalidField(160, id);
            Bytes value = IntegrityValues.ofCdb(key, MemorySegment.ofArray(cdb), v1);
            System.arraycopy(value.toArray(), 0, cdb, 160, 20);
            device.send(cdb, new byte[0]).isGood();
            assertThat(device.partitions()).containsExactly(SecuredFixture.PARTITION);
            Bytes refused = ResponseIntegrityCheck.of(
                    device.send(cdb, new byte[0]).illegal(NONCE_NOT_UNIQUE, id).sense())
                    .orElseThrow().value();
            assertThat(refused.length()).isEqualTo(20);
        }
    }

    // --- responses ---

    @Test
    void shouldSealSenseData() throws Exception {
        try (var device = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            device.send(device.writing(0, DATA)).isGood();
            SecuredFixture.Sealed past = device.reading(8, DATA.length); // recovered error, with data
            assertSealed(past, device.send(past));
            device.capability(
                    capability -> Capabilities.withPermissions(capability, Set.of()));
            SecuredFixture.Sealed refused = device.reading(0, DATA.length);
            assertSealed(refused, device.send(refused).invalidField(129, SecuredFixture.OBJECT));
        }
    }

    private static void assertSealed(SecuredFixture.Sealed command, Reply reply) {
        Bytes expected = IntegrityValues.ofResponse(command.key(), command.nonce(),
                reply.status().code(), MemorySegment.ofArray(reply.sense().encodeDescriptor()));
        assertThat(ResponseIntegrityCheck.of(reply.sense()).orElseThrow().value())
                .isEqualTo(IntegrityCheck.field(expected, 32));
    }

    // --- revocations ---

    @Test
    void shouldKeepPoliciesOnStableStorageBeforeItSaysSo() throws Exception {
        var flushes = new AtomicInteger();
        ObjectStore store = InterceptedStore.of("flush", (_, _) -> {
            flushes.incrementAndGet();
            return Optional.empty();
        });
        var partition = ObjectId.ofPartition(SecuredFixture.PARTITION);
        try (var device = new SecuredFixture(store, SecurityMethod.CAPKEY).withObject()) {
            flushes.set(0);
            set(device, SecuredFixture.OBJECT, new AttributeId(0x1_0000, 1), "00");
            assertThat(flushes).hasValue(0);
            set(device, SecuredFixture.OBJECT, UserObjectAttribute.POLICY_ACCESS_TAG.id(),
                    "00000001");
            assertThat(flushes).hasValue(1);
            set(device, partition, new AttributeId(
                    StandardPage.PARTITION_ATTRIBUTES_ACCESS.number(), 1), "0001000000000001");
            assertThat(flushes).hasValue(2);
            set(device, partition, PartitionAttribute.FROZEN_WORKING_KEYS.id(), "0001");
            assertThat(flushes).hasValue(3);
        }
    }

    private static void set(SecuredFixture device, ObjectId object, AttributeId id,
            String value) {
        device.send(device.seal(common -> new AttributesCommand(ServiceAction.SET_ATTRIBUTES,
                common, object, false, 0),
                new FieldParameters(new Attribute(id, Bytes.ofHex(value))), new byte[0],
                RequestNonce.NONE)).isGood();
    }
}
