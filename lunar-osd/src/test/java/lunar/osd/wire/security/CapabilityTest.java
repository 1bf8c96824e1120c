package lunar.osd.wire.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.scsi.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Capabilities of both versions, byte by byte. */
class CapabilityTest {
    private static final String AUDIT = "a1".repeat(20);
    private static final String DISCRIMINATOR = "d2".repeat(12);
    private static final String COMMON = " 1:c1 2:02"
            + " 4:010203040506 10:" + AUDIT + " 30:" + DISCRIMINATOR + " 42:0000000003e8 48:80";
    private static final Set<Permission> PERMISSIONS = EnumSet.of(Permission.READ,
            Permission.APPEND, Permission.DEVICE_MANAGEMENT, Permission.GLOBAL_REMOVE);

    private static Capability capability(int format, ObjectDescriptor object) {
        return new Capability(format, 12, 1, SecurityMethod.CMDRSP.code(), 0x0102_0304_0506L,
                Bytes.ofHex(AUDIT), Bytes.ofHex(DISCRIMINATOR), 1000,
                ObjectType.USER_OBJECT.code(), PERMISSIONS, object);
    }

    @Test
    void shouldHaveLayoutOfOsd1() {
        var capability = capability(1, new ObjectDescriptor(ObjectDescriptor.TYPE_USER_OBJECT, 0,
                0x1020304, 0, new ObjectId(0x10000, 0x10001), 0, 0));
        check(OsdVersion.OSD_1, capability, "0:01" + COMMON + " 49:8184 55:10 56:01020304"
                + " 60:0000000000010000 68:0000000000010001");
    }

    @Test
    void shouldHaveLayoutOfOsd2() {
        var capability = capability(2, new ObjectDescriptor(ObjectDescriptor.TYPE_COLLECTION,
                0x11121314, 0x1020304, 0x5152, new ObjectId(0x10000, 0x10001), 4096, 1));
        check(OsdVersion.OSD_2, capability, "0:02" + COMMON + " 49:8184 55:30 56:11121314"
                + " 60:01020304 64:5152 72:0000000000010000 80:0000000000010001"
                + " 88:0000000000001000 96:0000000000000001");
        assertThat(capability.fits(OsdVersion.OSD_1)).isFalse();
    }

    private static void check(OsdVersion version, Capability capability, String runs) {
        byte[] bytes = Hex.runs(version.capabilityLength(), runs);
        byte[] target = new byte[bytes.length];
        Arrays.fill(target, (byte) 0xff);
        capability.encode(MemorySegment.ofArray(target), version);
        assertThat(target).isEqualTo(bytes);
        assertThat(Capability.decode(MemorySegment.ofArray(bytes), version))
                .isEqualTo(capability);
        assertThat(capability.toString()).contains("READ", "10001h").doesNotContain("a1a1",
                "d2d2");
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeZeroWithoutCapability(OsdVersion version) {
        byte[] target = new byte[version.capabilityLength()];
        Arrays.fill(target, (byte) 0xff);
        Capability.NONE.encode(MemorySegment.ofArray(target), version);
        assertThat(target).containsOnly(0);
        assertThat(Capability.NONE.fits(version)).isTrue();
    }

    @Test
    void shouldNameSecurityMethods() {
        for (SecurityMethod method : SecurityMethod.values()) {
            assertThat(SecurityMethod.of(method.code())).contains(method);
        }
        assertThat(SecurityMethod.of(4)).isEmpty();
        assertThat(SecurityMethod.of(-1)).isEmpty();
    }

    @Test
    void shouldRefuseValuesThatDoNotFitTheirFields() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RequestNonce(1L << 48, Bytes.of(new byte[6])));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new RequestNonce(0, Bytes.of(new byte[5])));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> capability(16, ObjectDescriptor.NONE));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ObjectDescriptor(0, -1, 0, 0, ObjectId.ROOT, 0, 0));
    }
}
