package lunar.osd.security;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.command.OsdCdbDecoder;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.DataIntegrity;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/**
 * Keys, credentials and integrity check values. The bytes were laid out by hand, and their values computed by Python's
 * hmac module: {@code hmac.new(key, bytes, hashlib.sha1)}.
 */
class SecurityVectorsTest {
    private static final Bytes GENERATION = from(0x40);
    private static final SecretKey MASTER = new SecretKey(from(0x10), GENERATION);
    private static final long PARTITION = 0x1_0000;
    private static final long CREATED = 0x0192_a1b2_c3d4L;
    private static final Bytes SYSTEM_ID = from(0x60);
    private static final Bytes TOKEN = from(0x80);

    private static final String CAPABILITY = "023102000192ffffffff a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3"
            + " d0d1d2d3d4d5d6d7d8d9dadb 0192a1b2c3d5 80e000 00000000 10 00000000 00000007 0005 000000000000"
            + " 0000000000010000 0000000000010001 0000000000001000 0000000000000200";
    private static final Bytes CAPABILITY_KEY = Bytes
            .ofHex("419a13063c0c806c194a8e1ea4b8408851378b20");
    /** READ of 16 bytes at 200h. */
    private static final String CDB = "7f000000000000e4 888500300000 0000 0000000000010000"
            + " 0000000000010001 0000000000000010 0000000000000200 00000000 00000000 ffffffff"
            + " 00000000 ffffffff 00000000 ffffffff 00000000" + CAPABILITY
            + " 507147ccc50468f5ba77ec463ef1f5d5e08fffd5 000000000000000000000000"
            + " 0192b0000001 010203040506 ffffffff ffffffff";
    private static final RequestNonce NONCE = new RequestNonce(0x0192_b000_0001L,
            Bytes.ofHex("010203040506"));

    private static Bytes from(int first) {
        byte[] bytes = new byte[20];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (first + i);
        }
        return Bytes.of(bytes);
    }

    private static SecretKey key(String authentication, String generation) {
        return new SecretKey(Bytes.ofHex(authentication), Bytes.ofHex(generation));
    }

    private static Capability capability() {
        return new Capability(2, 3, 1, SecurityMethod.CMDRSP.code(), 0x0192_ffff_ffffL, from(0xa0),
                Bytes.ofHex("d0d1d2d3d4d5d6d7d8d9dadb"), 0x0192_a1b2_c3d5L,
                ObjectType.USER_OBJECT.code(),
                Set.of(Permission.READ, Permission.WRITE, Permission.GET_ATTRIBUTES),
                new ObjectDescriptor(ObjectDescriptor.TYPE_USER_OBJECT, 0, 7, 5,
                        new ObjectId(PARTITION, 0x1_0001), 4096, 0x200));
    }

    private static SecretKey workingKey() {
        return MASTER.derive(InitialSeeds.ofRoot())
                .derive(InitialSeeds.ofPartition(PARTITION, CREATED))
                .derive(InitialSeeds.ofWorkingKey(PARTITION, CREATED, 3));
    }

    @Test
    void shouldDeriveKeysOfSeeds() {
        assertThat(MASTER.derive(InitialSeeds.ofRoot()))
                .isEqualTo(key("4b3627557d6ff2c3fc8bed8c18c9cc2941815889",
                        "3ff0224c4a25f1721a59a5c1c68803c39fc179cd"));
        assertThat(InitialSeeds.ofPartition(PARTITION, CREATED))
                .isEqualTo(Bytes.ofHex("02000192a1b2c3d4000000000001000000000000"));
        assertThat(InitialSeeds.ofWorkingKey(PARTITION, CREATED, 3))
                .isEqualTo(Bytes.ofHex("03030192a1b2c3d4000000000001000000000000"));
        assertThat(workingKey()).isEqualTo(key("5c4e392c623a9c0772cc46f9b7190886e02c2a0e",
                "bba92b1fae9fafddcdb4346dbb1a38b382d83b5e"));
    }

    @Test
    void shouldIgnoreLeastSignificantBitOfSeed() {
        var odd = Bytes.of(new byte[20]).with(19, 1);
        SecretKey expected = key("2f561808556b05c76df5caca34ba7b643de72544",
                "d93317ca6575dc87818cb02edabfaa17364a871b");
        assertThat(MASTER.derive(odd)).isEqualTo(expected);
        assertThat(MASTER.derive(Bytes.of(new byte[20]))).isEqualTo(expected);
    }

    @Test
    void shouldIssueCredentials() {
        var credential = Credential.issue(OsdVersion.OSD_2, capability(), SYSTEM_ID,
                workingKey().authentication());
        assertThat(credential.capabilityKey()).isEqualTo(CAPABILITY_KEY);
        byte[] expected = Hex.array(CAPABILITY + SYSTEM_ID + CAPABILITY_KEY + "00".repeat(12));
        assertThat(credential.bytes().toArray()).isEqualTo(expected);
        assertThat(Credential.decode(MemorySegment.ofArray(expected), OsdVersion.OSD_2))
                .isEqualTo(credential);
        assertThat(credential.toString()).doesNotContain("419a", "a0a1", "d0d1");
    }

    @Test
    void shouldComputeRequestValues() throws Exception {
        assertThat(IntegrityValues.ofToken(CAPABILITY_KEY, TOKEN))
                .isEqualTo(Bytes.ofHex("6160e972356abd8526bb467bba91723eb9068491"));

        byte[] cdb = Hex.array(CDB);
        Bytes value = IntegrityValues.ofCdb(CAPABILITY_KEY, MemorySegment.ofArray(cdb),
                OsdVersion.OSD_2);
        var common = OsdCdbDecoder.decode(MemorySegment.ofArray(cdb)).common();
        assertThat(common.capability()).isEqualTo(capability());
        assertThat(common.security().nonce()).isEqualTo(NONCE);
        assertThat(common.security().integrityCheckValue())
                .isEqualTo(IntegrityCheck.field(value, 32));
    }

    @Test
    void shouldCoverEveryBitOfTheCdbButTheValue() {
        byte[] cdb = Hex.array(CDB);
        Bytes value = IntegrityValues.ofCdb(CAPABILITY_KEY, MemorySegment.ofArray(cdb),
                OsdVersion.OSD_2);
        for (int bit = 0; bit < 8 * cdb.length; bit++) {
            byte[] flipped = cdb.clone();
            flipped[bit / 8] ^= (byte) (1 << bit % 8);
            boolean inValue = bit / 8 >= 184 && bit / 8 < 216;
            assertThat(IntegrityValues.ofCdb(CAPABILITY_KEY, MemorySegment.ofArray(flipped),
                    OsdVersion.OSD_2).equals(value)).as("bit %d", bit).isEqualTo(inValue);
        }
    }

    @Test
    void shouldComputeValuesOfData() {
        var data = MemorySegment.ofArray("0123456789abcdef".getBytes(US_ASCII));
        assertThat(IntegrityValues.ofData(CAPABILITY_KEY, NONCE, data, MemorySegment.NULL))
                .isEqualTo(Bytes.ofHex("c4974ca5424a3efe41026527daaafe8fe183499b"));
        assertThat(IntegrityValues.ofData(CAPABILITY_KEY, NONCE, data,
                Hex.segment("09000000"), Hex.segment("0102")))
                .isEqualTo(Bytes.ofHex("0648712531a4d601a0ad611a0998e0264b2cfa28"));
    }

    @Test
    void shouldComputeValueOfContinuationSegment() {
        byte[] segment = Hex.array("0100 8886 00000000" + "ee".repeat(32) + "0000000000000000");
        IntegrityValues.sealContinuation(CAPABILITY_KEY, NONCE, MemorySegment.ofArray(segment));
        assertThat(segment).isEqualTo(Hex.array("0100 8886 00000000"
                + "7ea5dac8b1e0fd48993e7c160240c5dbbde05205" + "00".repeat(12)
                + "0000000000000000"));
    }

    @Test
    void shouldComputeResponseValues() {
        assertThat(IntegrityValues.ofResponse(CAPABILITY_KEY, NONCE, Status.GOOD))
                .isEqualTo(Bytes.ofHex("9708b24ad41f8ab30857ce47d1f28a9ed7b22934"));
        Sense sealed = IntegrityValues.seal(CAPABILITY_KEY, NONCE, OsdVersion.OSD_2,
                Sense.of(SenseKey.ILLEGAL_REQUEST, new AdditionalSense(0x24, 0x06)));
        byte[] expected = Hex.array("72052406 000000 22 07 20"
                + "d7c9d0c9d8013e73ffa0acef3be9beaa35c41eeb" + "00".repeat(12));
        assertThat(sealed.encodeDescriptor()).isEqualTo(expected);
        assertThat(IntegrityValues.ofResponse(CAPABILITY_KEY, NONCE, 2,
                MemorySegment.ofArray(expected)))
                .isEqualTo(Bytes.ofHex("d7c9d0c9d8013e73ffa0acef3be9beaa35c41eeb"));
    }

    @Test
    void shouldReadDataIntegrityInformation() {
        byte[] out = Hex.array("0000000000000010 0000000000000004 0000000000000002"
                + "ab".repeat(20) + "00".repeat(12));
        var decoded = DataIntegrity.decode(MemorySegment.ofArray(out), 3, OsdVersion.OSD_2);
        assertThat(decoded.lengths()).containsExactly(16L, 4L, 2L);
        byte[] again = new byte[DataIntegrity.length(3, OsdVersion.OSD_2)];
        decoded.encode(MemorySegment.ofArray(again));
        assertThat(again).isEqualTo(out);
        assertThat(DataIntegrity.length(2, OsdVersion.OSD_1)).isEqualTo(36);
    }

    @Test
    void shouldCompareWholeFields() {
        Bytes value = from(1);
        Bytes field = IntegrityCheck.field(value, 32);
        assertThat(IntegrityCheck.matches(value, field)).isTrue();
        assertThat(IntegrityCheck.matches(value, value)).isTrue();
        IntStream.range(0, 32).forEach(at -> assertThat(
                IntegrityCheck.matches(value, field.with(at, field.at(at) ^ 1))).isFalse());
    }

    @Test
    void shouldReadAndWriteFiles() {
        assertThat(KeyText.key(("# a comment\n\n" + KeyText.of(MASTER)).lines().toList()))
                .isEqualTo(MASTER);
        var credential = Credential.issue(OsdVersion.OSD_2, capability(), SYSTEM_ID,
                workingKey().authentication());
        assertThat(KeyText.credentials(
                KeyText.of(List.of(credential, credential)).lines().toList()))
                .containsExactly(credential, credential);
        assertThat(MASTER.toString()).isEqualTo("SecretKey[]");
    }

    @Test
    void shouldRefuseMalformedFilesWithoutRepeatingThem() {
        String half = "authentication-key " + MASTER.authentication();
        for (List<String> lines : List.of(List.<String>of(), List.of(half), List.of(half, half),
                List.of(half, "generation-key 4041"), List.of(half, "generation-key zz"),
                List.of("secret " + MASTER.authentication()))) {
            assertThatIllegalArgumentException().isThrownBy(() -> KeyText.key(lines))
                    .withMessageNotContaining("1011");
        }
        for (String line : List.of("", "credential osd2 00", "credential osd3 00",
                "credential osd2 zz", "osd2 00")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> KeyText.credentials(List.of(line)));
        }
    }
}
